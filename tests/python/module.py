#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module: sums against NumPy, memory without copies, the same bits as the command, and what it refuses.
  module.py FOLDER-OF-THE-MODULE SOURCES C-COMPILER, with SEXTANT in the environment"""
import gc
import os
import subprocess
import sys
import tempfile

try:
    import cffi
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

module, sources, compiler = sys.argv[1:]
sys.path[:0] = [module, os.path.join(sources, "examples")]
import sextant
from sextant._library import ffi

command = os.environ["SEXTANT"]
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
random = np.random.default_rng(2)
EDGES, N, FRAME = [-1.0, 0.0, 0.5, 2.0], 300, (5, 7)
frames = random.poisson(40, (N, *FRAME)).astype("u2")
i0, delay, on = random.uniform(0.5, 2, N), random.uniform(-1.2, 2.2, N), np.arange(N) % 3 > 0


def fails(what, error, words, **status):
    try:
        what()
    except error as found:
        assert words in str(found), found
        assert all(getattr(found, k) == v for k, v in status.items()), (found.status, status)
    else:
        raise AssertionError(f"nothing was said of {words}")


# Layouts of the declared structs are those of the compiler.
structs = [name for name in ffi.list_types()[0] if ffi.typeof(name).kind == "struct" and ffi.typeof(name).fields]
asked = [(name, field) for name in structs for field, _ in ffi.typeof(name).fields]
with open("sizes.c", "w") as f:
    print('#include <stddef.h>\n#include <stdio.h>\n#include <sextant/dcos.h>\n#include <sextant/reduce.h>\nint main(void) {',
          *(f'printf("%zu\\n", sizeof({name}));' for name in structs),
          *(f'printf("%zu\\n", offsetof({name}, {field}));' for name, field in asked), "return 0; }", sep="\n", file=f)
subprocess.run([compiler, "-I", os.path.join(sources, "include"), "sizes.c", "-o", "sizes"], check=True)
said = [int(line) for line in subprocess.run(["./sizes"], stdout=subprocess.PIPE, check=True).stdout.split()]
assert len(structs) >= 8 and said == [ffi.sizeof(n) for n in structs] + [ffi.offsetof(*a) for a in asked]

# Sums.
mask = np.zeros(FRAME, "u1")
mask[2, 3] = 1
one = sextant.Reducer(FRAME, EDGES, mask=mask)
for k in range(N):
    one.add(frames[k], i0[k], delay[k], on[k])
cube = one.cube()
off = frames[~on].sum(0) / i0[~on].sum()
for b in range(3):
    here = on & (delay >= EDGES[b]) & (delay < EDGES[b + 1])
    expected = np.where(mask, np.nan, frames[here].sum(0) / i0[here].sum() / off - 1)
    np.testing.assert_allclose(cube.signal[b], expected, rtol=1e-6, atol=1e-6)
    assert cube.count[b] == here.sum() and abs(cube.delay[b] - delay[here].mean()) < 1e-6
assert one.counts == {"on": int(cube.count.sum()), "off": int((~on).sum()), "missing": 0, "not_known": 0,
                      "outside": int(on.sum() - cube.count.sum())}, one.counts

# Arrays are the memory of the cube, and keep it.
kept, signal = cube.signal.copy(), cube.signal[1:]
assert not cube.signal.flags.owndata
del cube, one
gc.collect()
trash = [np.full(cube_size, 7.0) for cube_size in [kept.size] * 50]
np.testing.assert_array_equal(signal, kept[1:])

# Other types, halves, files: the same bits.
def whole(dtype="u2", **options):
    made = sextant.Reducer(FRAME, EDGES, mask=mask, **options)
    made.add_many(frames.astype(dtype), i0, delay, on)
    return made


for dtype in ("u2", "f4", "f8", "i8"):
    np.testing.assert_array_equal(whole(dtype, threads=2).cube().signal, kept)
half, rest = sextant.Reducer(FRAME, EDGES, mask=mask), sextant.Reducer(FRAME, EDGES, mask=mask)
half.add_many(frames[:100], i0[:100], delay[:100], on[:100])
rest.add_many(frames[100:], i0[100:], delay[100:], on[100:])
half.merge(rest)
np.testing.assert_array_equal(half.cube().signal, kept)
half.save("cube.h5")
fails(lambda: half.save("cube.h5"), sextant.Error, "exists", status="SX_ERR_EXISTS")
again = sextant.Reducer.load("cube.h5")
again.add(frames[0], i0[0], 0.1, True)
assert again.counts["on"] == half.counts["on"] + 1
part = frames.astype("f4")
part[5, 0, 0] = np.nan
missing = sextant.Reducer(FRAME, EDGES)
missing.add_many(part, i0, delay, on)
assert missing.counts["missing"] == 1 and np.isfinite(missing.cube(i0_offset=0.01, sigma="bin").signal).all()

# What is refused.
fails(lambda: half.add(frames[0].T, 1, 0, True), TypeError, "not in C order")
fails(lambda: half.add(frames[0].astype("c8"), 1, 0, True), TypeError, "complex64")
fails(lambda: half.add(frames[0, :4], 1, 0, True), sextant.Error, "shape", status="SX_ERR_SHAPE")
fails(lambda: sextant.Reducer(FRAME, [0, 0]), sextant.Error, "edges")
fails(lambda: sextant.Reducer(FRAME, EDGES, off="some"), ValueError, "'pooled'")
fails(lambda: sextant.Reducer.load("nothing.h5"), sextant.Error, "nothing.h5")
fails(lambda: sextant.Reducer(FRAME, EDGES).cube(), sextant.Error, "laser-off", status="SX_ERR_MISSING")

# A fit is that of the command, to the last bit.
subprocess.run([command, "xani", "simulate", "--shape", "40x30", "-o", "run.h5", "--quiet"], check=True)
subprocess.run([command, "xani", "fit", "run.h5", "-o", "fit.h5", "--quiet"], check=True)
with h5py.File("run.h5") as f:
    fit = sextant.fit(f["cube/signal"][:], f["cube/delay"][:], f["cube/sigma"][:], f["cube/mask"][:])
with h5py.File("fit.h5") as f:
    maps = [name for name in f["fit"] if hasattr(fit, name)]
    for name in maps:
        np.testing.assert_array_equal(getattr(fit, name), f["fit"][name], err_msg=name)
    assert len(maps) >= 14, maps
assert sextant.states[0] == "ok" and (fit.state == 0).sum() > 800
t = np.arange(100) * 0.05
fit = sextant.fit(0.1 + 0.02 * np.exp(-0.2 * t) * np.cos(2 * np.pi * 1.5 * t + 0.3), t, modes=1)
assert abs(fit.frequency[0] - 1.5) < 1e-9 and abs(fit.phase[0] - 0.3) < 1e-8 and fit.frequency.shape == (1,)
fails(lambda: sextant.fit(np.zeros((4, 2)), t), ValueError, "[T, ...]")
fails(lambda: sextant.fit(np.zeros(100), t[::-1]), sextant.Error, "delay")
fails(lambda: sextant.fit(np.zeros(100), t, background="some"), ValueError, "constant, none")

# The loops of the examples, on events that are made up.
import extra_data_loop
import psana_loop

shots = [{"frame": frames[k], "i0": i0[k], "delay": abs(delay[k]), "codes": np.eye(200)[90 if on[k] else 91]} for k in range(N)]
shots[3]["frame"] = shots[4]["i0"] = None
of = lambda name: lambda event: event[name]
made = psana_loop.reduce(shots, of("frame"), of("i0"), of("delay"), of("codes"))
assert made.counts["on"] + made.counts["off"] == N - 2
trains = [(t, {"d": {"adc": frames[10 * t:10 * t + 10]}, "x": {"i": np.ones(1000)}, "m": 0.5}) for t in range(N // 10)]
trains[7] = (7, {"x": trains[7][1]["x"]})
made = extra_data_loop.reduce(trains, ("d", "adc"), ("x", "i"), of("m"))
assert made.counts["on"] == made.counts["off"] == (N - 10) // 2
