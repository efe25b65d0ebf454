#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""xani reduce and xani merge against the same sums by NumPy, for frames in every way h5py stores them, and what the
commands say.
  reduce.py, with SEXTANT in the environment"""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sextant = os.environ["SEXTANT"]
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
random = np.random.default_rng(3)
N, FRAME = 700, (3, 20, 31)
laser = np.arange(N) % 2
xray = random.random(N) > 0.1
i0 = 200 + 5000 * random.random(N)
nominal = random.permutation(np.arange(N)) / N * 4 - 1
tool = 0.2 * random.standard_normal(N)
frames = random.poisson(i0[:, None, None, None] / 200 * np.linspace(1, 3, 31), (N, *FRAME))
EDGES = [-1, 0, 0.5, 2, 4]


def run(*words, code=0):
    done = subprocess.run([sextant, "xani", *words], capture_output=True, text=True, timeout=100)
    assert done.returncode == code, (words, done)
    return done


def write(name, data, rows=slice(None), **storage):
    with h5py.File(name, "w") as f:
        f.create_dataset("det/calib", data=data[rows], **storage)
        f["lightStatus/laser"] = laser[rows].astype("i1")
        f["lightStatus/xray"] = xray[rows].astype("i1")
        f["wave8/sum"] = i0[rows]
        f["enc/lasDelay"] = nominal[rows]
        f["tt/FLTPOS_PS"] = np.where(laser == 1, tool, np.nan)[rows]


def expected(data, offset):
    on, off = xray & (laser == 1), xray & (laser == 0)
    delay, w = nominal + tool, i0 - offset
    r_off = data[off].sum(0) / w[off].sum()
    scatter, shots, bins = 0, 0, []
    for low, high in zip(EDGES[:-1], EDGES[1:]):
        here = on & (delay >= low) & (delay < high)
        ratio = data[here].sum(0) / w[here].sum()
        scatter = scatter + ((data[here] - ratio * w[here, None, None, None]) ** 2).sum(0)
        shots += here.sum() - 1
        bins.append((ratio, here.sum(), w[here].sum(), delay[here].mean()))
    signal = np.array([b[0] / r_off - 1 for b in bins])
    sigma = np.array([np.sqrt(b[1] * scatter / shots) / b[2] / r_off for b in bins])
    return signal, sigma, np.array([b[3] for b in bins])


STORED = {
    "plain": ("u2", {}),
    "frames": ("f4", {"chunks": (1, *FRAME), "compression": "gzip"}),
    "many": ("i4", {"chunks": (16, *FRAME), "compression": "gzip", "shuffle": True}),
    "parts": ("f8", {"chunks": (7, 1, 20, 31)}),
}
ARGS = ["--edges", ",".join(map(str, EDGES)), "--i0-offset", "200", "--quiet"]
signal, sigma, delay = expected(frames.astype(float), 200)
for name, (dtype, storage) in STORED.items():
    write(f"{name}.h5", frames.astype(dtype), **storage)
    run("reduce", f"{name}.h5", "-o", f"{name}.cube", *ARGS)
    with h5py.File(f"{name}.cube") as f:
        # I0 is rounded to 2^-20, products and squares to 2^-12; float32 holds the rest to 6e-8.
        np.testing.assert_allclose(f["cube/signal"], signal, rtol=1e-6, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(f["cube/sigma"], sigma, rtol=1e-4, err_msg=name)
        np.testing.assert_allclose(f["cube/delay"], delay, atol=1e-6, err_msg=name)
        assert list(f["cube/signal"].dims[1]) == ["segment"] and f["cube"].attrs["signal"] == "signal", name

# Raw frames of a Jungfrau give the cube of the calibrated ones; constants of the run or of a file.
pedestal = 500 + random.integers(0, 48000, (3, *FRAME)) / 16  # exact in single precision
gain = np.array([8.0, -0.25, -0.02])[:, None, None, None] * (1 + 0.1 * random.random((3, *FRAME)))
stage = np.where(frames > np.median(frames), 1, 0) + (frames > np.quantile(frames, 0.9))
picked = np.take_along_axis(np.broadcast_to(pedestal, (N, *pedestal.shape)), stage[:, None], 1)[:, 0]
gains = np.take_along_axis(np.broadcast_to(gain, (N, *gain.shape)), stage[:, None], 1)[:, 0]
adu = np.clip(np.round(picked + gains * frames), 0, 0x3FFF).astype("u2")
bad = np.zeros(FRAME, "u1")
bad[1, 2, 3] = 1
energy = ((adu - picked) / gains).astype("f4")
raw = adu | np.array([0, 0x4000, 0xC000], "u2")[stage]
write("energy.h5", energy)
write("raw.h5", raw)
for name, words in (("raw.h5", []), ("energy.h5", None)):
    with h5py.File(name, "a") as f:
        f["UserDataCfg/det/mask"] = 1 - bad
        if words is not None:
            f["UserDataCfg/det/ped"], f["UserDataCfg/det/gain"] = pedestal, gain
with h5py.File("constants.h5", "w") as f:
    f["jf/pedestal"], f["jf/gain"], f["jf/mask"] = pedestal, gain, bad
run("reduce", "energy.h5", "-o", "energy.cube", *ARGS)
for name, words in (("own", []), ("file", ["--calibration", "constants.h5:/jf"])):
    run("reduce", "raw.h5", "--raw", "jungfrau", *words, "-o", f"{name}.cube", *ARGS)
    with h5py.File(f"{name}.cube") as a, h5py.File("energy.cube") as b:
        np.testing.assert_allclose(a["cube/signal"], b["cube/signal"], rtol=1e-4, atol=1e-5, err_msg=name)
        assert np.isnan(a["cube/signal"][:, 1, 2, 3]).all() and a["cube/mask"][1, 2, 3] == 1
done = run("reduce", "energy.h5", "--raw", "jungfrau", "--calibration", "constants.h5:/jf", "-o", "no.h5", *ARGS, code=1)
assert "uint16" in done.stderr, done.stderr
done = run("reduce", "raw.h5", "--common-mode", "rows", "-o", "no.h5", *ARGS, code=1)
assert "--raw" in done.stderr, done.stderr
done = run("reduce", "raw.h5", "--raw", "jungfrau", "--common-mode", "rows", "-o", "no.h5", *ARGS, code=1)
assert "256 x 64" in done.stderr and not os.path.exists("no.h5"), done.stderr

# A part that is missing is an error, never zeros.
with h5py.File("gone.h5", "w") as f:
    layout = h5py.VirtualLayout((N, *FRAME), "u2")
    layout[:] = h5py.VirtualSource("nowhere.h5", "x", (N, *FRAME))
    f.create_virtual_dataset("det/calib", layout)
    for other in ("lightStatus", "wave8", "enc", "tt"):
        with h5py.File("plain.h5") as source:
            source.copy(other, f)
done = run("reduce", "gone.h5", "-o", "no.h5", *ARGS, code=1)
assert "nowhere.h5" in done.stderr and not os.path.exists("no.h5"), done.stderr

# Halves, in any order.
write("first.h5", frames.astype("u2"), slice(0, 300))
write("second.h5", frames.astype("u2"), slice(300, N))
for half in ("first", "second"):
    run("reduce", f"{half}.h5", "-o", f"{half}.cube", *ARGS)
said = json.loads(run("merge", "second.cube", "first.cube", "-o", "merged.cube", "--json").stdout)
assert said["on"] + said["off"] <= xray.sum(), said
with h5py.File("merged.cube") as a, h5py.File("plain.cube") as b:
    b["cube"].visititems(lambda name, it: isinstance(it, h5py.Group) or
                         np.testing.assert_array_equal(a["cube"][name], it, err_msg=name))

# Figures, and what is refused.
said = json.loads(run("reduce", "plain.h5", "-o", "again.cube", "--json", *ARGS[:-1]).stdout)
assert said["shots"] == N and said["reasons"]["no X-rays by their code"] == (~xray).sum(), said
assert said["time_tool"]["sign"] == "plus" and abs(said["time_tool"]["rms_ps"] - 0.2) < 0.02, said
for words, code, sentence in (
        (["reduce", "plain.h5"], 2, "-o FILE is missing"),
        (["reduce", "-o", "no.h5"], 2, "an argument is missing"),
        (["reduce", "plain.h5", "-o", "no.h5", "--i0-range", "5"], 2, "--i0-range: '5' is not LO:HI"),
        (["reduce", "plain.h5", "-o", "no.h5", "--edges", "1,x"], 2, "--edges: 'x' is no delay"),
        (["reduce", "plain.h5", "-o", "no.h5", "--angle", "mu"], 2, "--angle: 'mu' is not NAME=DEG"),
        (["reduce", "plain.h5", "-o", "no.h5", "--angle", "a/b=3"], 2, "--angle: 'a/b=3' is not NAME=DEG"),
        (["reduce", "plain.h5", "./plain.h5", "-o", "no.h5"], 1, "plain.h5 and ./plain.h5 are the same"),
        (["merge", "plain.cube", "plain.cube", "-o", "no.h5"], 1, "would count twice"),
        (["reduce", "plain.h5", "-o", "no.h5", "--i0", "ipm7/sum"], 1, "ipm7/sum"),
        (["reduce", "nowhere.h5", "-o", "no.h5"], 1, "nowhere.h5: no such file"),
        (["merge", "plain.h5", "-o", "no.h5"], 1, "holds no /cube/sums")):
    done = run(*words, code=code)
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not os.path.exists("no.h5"), words
sys.stdout.write("xani reduce agrees with NumPy\n")
