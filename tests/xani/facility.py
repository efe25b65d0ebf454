#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""xani reduce on runs as facilities write them, against NumPy: European XFEL with modules that miss trains, trains
out of order and padding; SwissFEL; NeXus series; LCLS2. And what is said of runs that are damaged.
  facility.py, with SEXTANT in the environment"""
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
random = np.random.default_rng(11)
EDGES = [-1.0, 0.0, 1.0, 2.0]
ARGS = ["--edges", ",".join(map(str, EDGES)), "--delay-scale", "1"]


def run(paths, *words, code=0, output="cube.h5"):
    done = subprocess.run([sextant, "xani", "reduce", *paths, "-o", output, "--overwrite", "--json", *ARGS, *words],
                          capture_output=True, text=True, timeout=100)
    assert done.returncode == code, (paths, words, done)
    return json.loads(done.stdout) if code == 0 else done.stderr


def check(frames, i0, delay, laser, name, partner=None):
    """The cube against sums over shots; NaN in frames is missing there, NaN elsewhere leaves the shot out. partner:
    delays by which laser-off shots are binned, too."""
    with h5py.File("cube.h5") as f:
        signal, count, mean = (f["cube"][k][()] for k in ("signal", "count", "delay"))
    axes = (slice(None),) + (None,) * (frames.ndim - 1)

    def ratio(shots):
        known = np.isfinite(frames[shots])
        w = np.where(known, i0[shots][axes], 0).sum(0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.nansum(frames[shots], 0) / w
    dark = np.isfinite(i0) & (laser == 0)
    for b, (low, high) in enumerate(zip(EDGES[:-1], EDGES[1:])):
        on = np.isfinite(i0) & (laser == 1) & (delay >= low) & (delay < high)
        off = dark if partner is None else dark & (partner >= low) & (partner < high)
        assert count[b] == on.sum(), (name, b, count[b], on.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = ratio(on) / ratio(off) - 1
        np.testing.assert_array_equal(np.isnan(signal[b]), np.isnan(expected), err_msg=name)
        np.testing.assert_allclose(signal[b], expected, rtol=2e-6, atol=2e-6, err_msg=name)
        np.testing.assert_allclose(mean[b], delay[on].mean(), atol=1e-6, err_msg=name)


# --- European XFEL: shots are (train, pulse) ---
TRAINS, PULSES, MODULES, SHAPE = 40, 4, 3, (6, 5)
FIRST = 1_000_000
SLOW = "TST_LAS/MOTOR/DELAY"
MONITOR = "SA1_XTD2_XGM/XGM/DOOCS:output/data/intensityTD"
FIELDS = ["--i0", MONITOR, "--delay", SLOW + "/actualPosition", "--laser-pattern", "1101,0110"]
truth = random.poisson(40, (TRAINS, PULSES, MODULES, *SHAPE)).astype(float)
beam = random.uniform(50, 90, (TRAINS, PULSES)).round(3).astype("f4").astype(float)
stage = random.uniform(-1, 2, TRAINS)
on = np.array([[int(("1101", "0110")[(FIRST + t) % 2][p]) for p in range(PULSES)] for t in range(TRAINS)])


def index(f, source, counts, old):
    first = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype("u8")
    f[f"INDEX/{source}/first"] = first
    if old:
        f[f"INDEX/{source}/last"] = np.maximum(first + np.array(counts, "u8"), 1) - np.uint64(1)
        f[f"INDEX/{source}/status"] = (np.array(counts) > 0).astype("u8")
    else:
        f[f"INDEX/{source}/count"] = np.array(counts, "u8")


def euxfel(path, trains, sources, version="1.2", pad=3, suspect=()):
    """A file with these trains, in this order; what it has of them: sources(f, index)."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with h5py.File(path, "w") as f:
        f["INDEX/trainId"] = np.array([FIRST + t for t in trains] + [0] * pad, "u8")
        if version >= "1.0":
            safe = [t not in suspect for t in trains] + [True] * pad
            f["INDEX/flag"] = np.array([s != (version == "1.1") for s in safe], "i4")
            f["METADATA/dataFormatVersion"] = [version]
        names = sources(f, lambda source, counts: index(f, source, list(counts) + [0] * pad, version == "0.1"))
        group = "METADATA/dataSources" if version >= "1.0" else "METADATA"
        f[f"{group}/dataSourceId"] = names + [""] * 2


def module(m, trains, pulses_of, raw):
    """Frames of a module: pulses_of(train) are those that it recorded. Pulses are every fourth of the clock."""
    def put(f, indexed):
        source = f"TST_DET_X1M/DET/{m}CH0:xtdf/image"
        shots = [(t, p) for t in trains for p in pulses_of(t)]
        indexed(source, [len(pulses_of(t)) for t in trains])
        data = np.array([truth[t, p, m] for t, p in shots]).reshape(-1, *SHAPE)
        group = f.create_group("INSTRUMENT/" + source)
        group["pulseId"] = np.array([4 * p for t, p in shots], "u8").reshape((-1, 1) if raw else -1)
        if raw:
            group["data"] = np.stack([data, 0 * data + 7], 1).astype("u2")
        else:
            bad = bad_of(m, shots)
            group.create_dataset("data", data=np.where(bad, 0, data).astype("f4"), chunks=(1, *SHAPE))
            group.create_dataset("mask", data=bad.astype("u4") << 20, chunks=(1, *SHAPE), compression="gzip")
        return ["INSTRUMENT/" + source]
    return put


def bad_of(m, shots):
    bad = np.zeros((len(shots), *SHAPE), bool)
    for i, (t, p) in enumerate(shots):
        bad[i, (t + p) % SHAPE[0], m] = t % 3 == 0
    bad[:, 2, 3] = m == 1
    return bad


def slow(trains, rest=()):
    def put(f, indexed):
        indexed("SA1_XTD2_XGM/XGM/DOOCS:output/data", [0 if t in rest else 1 for t in trains])
        rows = [t for t in trains if t not in rest]
        values = np.ones((len(rows), 1000), "f4")
        values[:, :PULSES] = beam[rows]
        f["INSTRUMENT/" + MONITOR] = values
        indexed(SLOW, [1] * len(trains))
        f[f"CONTROL/{SLOW}/actualPosition/value"] = np.array([stage[t] for t in trains])
        return ["INSTRUMENT/SA1_XTD2_XGM/XGM/DOOCS:output/data", "CONTROL/" + SLOW]
    return put


def recorded(m):
    """Module 1 misses trains, module 2 a pulse now and then, and train 9 has no pulse 0 at all."""
    def pulses(t):
        missed = (m == 1 and t in (3, 4, 21)) or t == 13
        return [] if missed else [p for p in range(PULSES)
                                  if not (m == 2 and (t, p) in ((7, 0), (30, 2))) and not (t == 9 and p == 0)]
    return pulses


def write_run(name, raw, version="1.2", suspect=()):
    kind = "RAW" if raw else "CORR"
    halves = [list(range(0, 22)), list(range(22, TRAINS))]
    halves[0][5:9] = [8, 5, 7, 6]     # out of order
    for s, trains in enumerate(halves):
        for m in range(MODULES):
            mine = [t for t in trains if not (m == 1 and t == 21)]
            euxfel(f"{name}/{kind}-R0007-X{m:02}-S{s:05}.h5", mine, module(m, mine, recorded(m), raw), version,
                   suspect=suspect)


def expected_run(raw, lost=()):
    shots = [(t, p) for t in range(TRAINS) for p in range(PULSES) if any(p in recorded(m)(t) for m in range(MODULES))
             and t not in lost]
    frames = np.full((len(shots), MODULES, *SHAPE), np.nan)
    for i, (t, p) in enumerate(shots):
        for m in range(MODULES):
            if p in recorded(m)(t):
                frames[i, m] = truth[t, p, m]
                if not raw:
                    frames[i, m][bad_of(m, [(t, p)])[0]] = np.nan
    i0 = np.array([np.nan if t == 17 else beam[t, p] for t, p in shots])
    return frames, i0, np.array([stage[t] for t, p in shots]), np.array([on[t, p] for t, p in shots])


order = list(random.permutation(TRAINS))     # the monitor's file has the trains in another order, and lacks one
for version in ("0.1", "0.5", "1.0", "1.1", "1.2"):
    write_run(f"{version}/raw/r0007", True, version)
    euxfel(f"{version}/raw/r0007/RAW-R0007-DA01-S00000.h5", order, slow(order, rest=(17,)), version)
    said = run([f"{version}/raw/r0007"], *FIELDS)
    check(*expected_run(True), "raw " + version)
    assert said["reasons"]["I0 not known"] == PULSES, said
write_run("1.2/proc/r0007", False)
said = run(["1.2/proc/r0007"], *FIELDS)      # the rest is in raw beside it
check(*expected_run(False), "corrected")
files = [f"1.2/raw/r0007/{f}" for f in sorted(os.listdir("1.2/raw/r0007"))]
dotted = [w.replace("data/intensity", "data.intensity") for w in FIELDS]
run(files, *dotted)                          # one by one is one run, too
check(*expected_run(True), "files")
write_run("flag/r0007", True, suspect=(2, 25))
euxfel("flag/r0007/RAW-R0007-DA01-S00000.h5", order, slow(order, rest=(17,)))
run(["flag/r0007"], *FIELDS)
check(*expected_run(True, lost=(2, 25)), "suspect trains")

# The index promises frames that the writer did not write: they are missing, and said to be.
with h5py.File("flag/r0007/RAW-R0007-X00-S00001.h5", "r+") as f:
    group = f["INSTRUMENT/TST_DET_X1M/DET/0CH0:xtdf/image"]
    data, pulses = group["data"][:-2], group["pulseId"][:-2]
    del group["data"], group["pulseId"]
    group["data"], group["pulseId"] = data, pulses
done = subprocess.run([sextant, "xani", "reduce", "flag/r0007", "-o", "cube.h5", "--overwrite", *ARGS, *FIELDS],
                      capture_output=True, text=True, timeout=100)
assert done.returncode == 0 and "promises 2 frames" in done.stderr, done
frames, *rest = expected_run(True, lost=(2, 25))
frames[-2:, 0] = np.nan
check(frames, *rest, "promised")

# A file that is there twice counts once.
subprocess.run(["cp", "flag/r0007/RAW-R0007-X02-S00000.h5", "flag/r0007/RAW-R0007-X02-S00009.h5"], check=True)
done = subprocess.run([sextant, "xani", "reduce", "flag/r0007", "-o", "cube.h5", "--overwrite", *ARGS, *FIELDS],
                      capture_output=True, text=True, timeout=100)
assert done.returncode == 0 and "stand for a train, pulse and module that others stand for" in done.stderr, done
check(frames, *rest, "doubled")

# Jungfrau: memory cells of an entry are shots.
CELLS = 3
cells = random.poisson(30, (TRAINS, CELLS, *SHAPE)).astype("u2")


def jungfrau(f, indexed):
    source = "TST_X_JFX/DET/JNGFR01:daqOutput/data"
    indexed(source, [1] * TRAINS)
    f.create_dataset(f"INSTRUMENT/{source}/adc", data=cells, chunks=(1, 2, 3, 5))
    f[f"INSTRUMENT/{source}/memoryCell"] = np.tile(np.arange(CELLS), (TRAINS, 1)).astype("u1")
    return ["INSTRUMENT/" + source]


euxfel("jf/RAW-R0008-JNGFR01-S00000.h5", list(range(TRAINS)), jungfrau)
euxfel("jf/RAW-R0008-DA01-S00000.h5", order, slow(order))
run(["jf"], *FIELDS[:4], "--laser-pattern", "101")
check(cells.reshape(-1, *SHAPE).astype(float), beam[:, :CELLS].ravel(), np.repeat(stage, CELLS),
      np.tile([1, 0, 1], TRAINS), "jungfrau")

# --- SwissFEL: shots are pulses ---
pids = 20_000_000_000 + 2 * np.arange(90)
image = random.poisson(50, (90, *SHAPE)).astype("u2")
good = random.random(90) > 0.1
power = random.uniform(1, 2, 90)
position = random.uniform(-1, 2, 90)
event = np.arange(90) // 3 % 2
kept = random.permutation(90)[:80]
present = random.random(80) > 0.1


def swissfel(folder, prefix, old=False, parts=((0, 90),)):
    os.makedirs(folder, exist_ok=True)
    root = "" if old else "data/"
    for n, (first, end) in enumerate(parts):
        with h5py.File(f"{folder}/{prefix}{n}.JF01T03V01.h5", "w") as f:
            f["data/JF01T03V01/data"] = image[first:end]
            f["data/JF01T03V01/pulse_id"] = pids[first:end, None]
            f["data/JF01T03V01/is_good_frame"] = good[first:end, None]
            f["general/detector_name"] = "JF01T03V01"
        with h5py.File(f"{folder}/{prefix}{n}.BSREAD.h5", "w") as f:
            mine = [i for i in range(80) if first <= kept[i] < end]
            for name, values in (("MON:I0", power), ("LAS:DELAY", position),
                                 ("EVT", np.stack([1 - event, event], 1))):
                f[f"{root}{name}/data"] = values[kept[mine]]
                f[f"{root}{name}/pulse_id"] = pids[kept[mine]]
            f[f"{root}MON:I0/is_data_present"] = present[mine]


swissfel("sf", "run_")
swissfel("sf_old", "run_", old=True)
swissfel("sf_new/data", "acq", parts=((30, 60), (0, 30), (60, 90)))
known = np.full(90, np.nan)
known[kept] = np.where(present, power[kept], np.nan)
event_of = np.full(90, -1)
event_of[kept] = event[kept]
for paths in (["sf"], ["sf_old"], ["sf_new"], ["sf/run_0.BSREAD.h5", "sf/run_0.JF01T03V01.h5"]):
    said = run(paths, "--i0", "MON:I0", "--delay", "LAS:DELAY", "--laser", "EVT[1]")
    check(image.astype(float), np.where(good, known, np.nan), position, event_of, paths[0])
    assert said["reasons"]["bad frame by the detector"] == (~good).sum(), said

# --- NeXus: shots are images ---
scan = random.uniform(-1, 2, 50)
series = random.poisson(60, (50, *SHAPE)).astype("u4")
series[random.random(series.shape) < 0.02] = 2**32 - 1      # overflown
current = random.uniform(5, 6, 50)
dead = np.zeros(SHAPE, "u4")
dead[1, 1], dead[0, 4] = 1, 1 << 31
os.makedirs("nx")
for n, rows in ((1, slice(0, 30)), (2, slice(30, 50))):
    with h5py.File(f"nx/s_data_{n:06}.h5", "w") as f:
        f.create_dataset("entry/data/data", data=series[rows], chunks=(1, *SHAPE), compression="gzip")


def master(name, missing=False, virtual=False):
    with h5py.File(name, "w") as f:
        f.create_group("entry").attrs["NX_class"] = "NXentry"
        f["entry/definition"] = "NXmx"
        f.create_group("entry/data").attrs["NX_class"] = "NXdata"
        if virtual:
            layout = h5py.VirtualLayout((50, *SHAPE), "u4")
            layout[:30] = h5py.VirtualSource("s_data_000001.h5", "entry/data/data", (30, *SHAPE))
            layout[30:] = h5py.VirtualSource("gone.h5" if missing else "s_data_000002.h5", "entry/data/data",
                                             (20, *SHAPE))
            f.create_virtual_dataset("entry/data/data", layout)
        else:
            f["entry/data/data_000001"] = h5py.ExternalLink("s_data_000001.h5", "entry/data/data")
            f["entry/data/data_000002"] = h5py.ExternalLink("gone.h5" if missing else "s_data_000002.h5",
                                                            "entry/data/data")
        f["entry/sample/transformations/delay"] = scan
        f["entry/sample/transformations/delay"].attrs["units"] = "ps"
        f["entry/monitor/data"] = current
        f["entry/instrument/detector/pixel_mask"] = dead
        f["entry/instrument/beam/incident_wavelength"] = 1.0
        f["entry/instrument/beam/incident_wavelength"].attrs["units"] = "angstrom"


for virtual in (False, True):
    master("nx/s_master.h5", virtual=virtual)
    run(["nx/s_master.h5"], "--delay", "delay", "--laser-pattern", "10")
    check(np.where((dead == 0) & (series < 2**32 - 1), series, np.nan), current, scan, 1 - np.arange(50) % 2, f"nexus {virtual}")
    with h5py.File("cube.h5") as f:
        assert abs(f["cube/photon_energy"][()] - 12398.4198) < 1e-3
    master("nx/m_master.h5", missing=True, virtual=virtual)
    assert "gone.h5" in run(["nx/m_master.h5"], code=1, output="no.h5"), virtual

# --- LCLS2: rows are in no order; codes of events are columns ---
stamps = (1_700_000_000 + np.arange(60) // 40 << 32) + np.arange(60) % 40 * 25_000_000
codes = np.zeros((60, 288), "u1")
codes[:, 90] = np.arange(60) % 2
rows = random.permutation(60)
small = random.poisson(30, (60, *SHAPE)).astype("f4")
monitor, lag = random.uniform(1, 2, 60), random.uniform(-1, 2, 60)
with h5py.File("small.h5", "w") as f:
    for name, values in (("jungfrau/calib", small), ("timestamp", stamps.astype("u8")), ("timing/eventcodes", codes),
                         ("ipm2/sum", monitor), ("epics/lxt", lag)):
        f[name] = values[rows]
run(["small.h5"], "--laser", "timing/eventcodes[90]")
check(small.astype(float), monitor, lag, codes[:, 90], "lcls2")
# Of two laser-on shots as near the earlier one counts, also across a full second of the time stamp.
run(["small.h5"], "--laser", "timing/eventcodes[90]", "--off", "nearest")
nearest = np.array([lag[max(i - 1, 1)] for i in range(60)])
check(small.astype(float), monitor, lag, codes[:, 90], "lcls2 nearest", nearest)

# --- what cannot be read is said ---
def cut(name, to, part):
    with open(name, "rb") as f:
        data = f.read()
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, "wb") as f:
        f.write(data[:int(len(data) * part)])


def changed(to, change):
    subprocess.run(["cp", "-r", "1.2/raw/r0007", to], check=True)
    with h5py.File(f"{to}/RAW-R0007-X01-S00000.h5", "r+") as f:
        change(f)


def replace(name, values):
    def change(f):
        del f[name]
        if values is not None:
            f[name] = values
    return change


SOURCE = "TST_DET_X1M/DET/1CH0:xtdf/image"
cut("1.2/raw/r0007/RAW-R0007-X01-S00000.h5", "cut/RAW-R0007-X01-S00000.h5", 0.6)
changed("no_trains", replace("INDEX/trainId", None))
changed("no_index", replace(f"INDEX/{SOURCE}", None))
changed("short_index", replace(f"INDEX/{SOURCE}/first", np.zeros(3, "u8")))
changed("wild_index", replace(f"INDEX/{SOURCE}/count", np.full(24, 1 << 60, "u8")))
changed("flat", replace(f"INSTRUMENT/{SOURCE}/data", np.zeros((80, 6), "u2")))
changed("other_shape", replace(f"INSTRUMENT/{SOURCE}/data", np.zeros((80, 2, 6, 6), "u2")))
changed("no_pulses", replace(f"INSTRUMENT/{SOURCE}/pulseId", np.zeros(3, "u8")))


def huge(f):
    del f["INDEX/trainId"]
    f.create_dataset("INDEX/trainId", (1 << 40,), "u8", chunks=(1 << 16,))


changed("huge", huge)
euxfel("empty/RAW-R0009-X00-S00000.h5", [], module(0, [], recorded(0), True), pad=4)
os.makedirs("nothing")
with h5py.File("bs.BSREAD.h5", "w") as f:
    f["data/A/data"], f["data/A/pulse_id"] = np.arange(3), np.arange(3)
with h5py.File("off.JF01.h5", "w") as f:
    f["data/JF01/data"], f["data/JF01/pulse_id"] = np.zeros((3, 4, 4)), np.arange(2)
two = ["sf/run_0.JF01T03V01.h5", "sf/run_0.BSREAD.h5"]
for paths, words, sentence in (
        (["cut"], FIELDS, "RAW-R0007-X01-S00000.h5"),
        (["no_trains"], FIELDS, "INDEX/trainId"),
        (["no_index"], FIELDS, "no index"),
        (["short_index"], FIELDS, "3 entries for 24 trains"),
        (["wild_index"], FIELDS, "is damaged"),
        (["flat"], FIELDS, "shaped unlike"),
        (["other_shape"], FIELDS, "shaped unlike"),
        (["no_pulses"], FIELDS, "3 pulse numbers"),
        (["huge"], FIELDS, "too many"),
        (["empty"], FIELDS, "no shots"),
        (["nothing"], FIELDS, "a folder without a run"),
        (["1.2/raw/r0007"], ["--i0", "X/Y:output/z"], "SA1_XTD2_XGM/XGM/DOOCS:output/data"),
        (["1.2/raw/r0007"], ["--i0", MONITOR, "--laser-pattern", "12"], "not made of 0 and 1"),
        (["1.2/raw/r0007"], ["--detector", "AGIPD"], "it holds INSTRUMENT/TST_DET_X1M/DET/*CH0:xtdf/image/data"),
        (["1.2/raw/r0007/RAW-R0007-DA01-S00000.h5"], FIELDS, "give the folder of the run"),
        (["1.2/raw/r0007"], ["--raw", "jungfrau", *FIELDS], "without --raw"),
        (["bs.BSREAD.h5"], [], "no channel has frames"),
        (["off.JF01.h5"], [], "2 entries for the 3 rows"),
        (two, ["--i0", "MON"], "there is no channel MON; there are"),
        (two, ["--i0", "EVT"], "choose one with NAME[k]"),
        (two, ["--i0", "EVT[7]"], "no element 7"),
        (["nx/s_master.h5"], ["--delay", "omega", "--laser-pattern", "10"], "omega"),
        (["small.h5"], [], "--laser")):
    stderr = run(paths, *words, code=1, output="no.h5")
    said = [line for line in stderr.splitlines() if "warning:" not in line]
    assert len(said) == 1 and sentence in said[0], (paths, words, stderr)
    assert not os.path.exists("no.h5"), paths

data = os.path.join(os.environ.get("SEXTANT_DATA", ""), "facility/Therm_6_2.nxs")
if os.path.exists(data):
    assert "Therm_6_2_000001.h5" in run([data], code=1, output="no.h5")
else:
    sys.stdout.write(f"skipped: {data} is not here\n")
sys.stdout.write("runs of facilities agree with NumPy\n")
