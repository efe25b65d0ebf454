#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One small input of every layout that xani fit reads, into the folder that is named; prints a line of arguments
for each, in front of it a name."""
import os
import sys

import h5py
import numpy as np

T, H, W, SEGMENTS = 90, 21, 34, 3
os.chdir(sys.argv[1])
random = np.random.default_rng(5)
delay = 0.07 * np.arange(T) - 0.3


def signal(*frame):
    """Damped cosines of another frequency in each pixel."""
    n = int(np.prod(frame))
    f = 0.8 + 3 * np.arange(n) / n
    t = delay[:, None]
    y = 0.05 * np.exp(-0.3 * t) * np.cos(2 * np.pi * f * t) * (t >= 0) + 0.01
    return (y + 0.003 * random.standard_normal((T, n))).reshape(T, *frame)


def cube(name, frame, **storage):
    with h5py.File(name, "w") as f:
        y = f.create_dataset("cube/signal", data=signal(*frame).astype("f4"), **storage)
        y[3:5, ..., 2] = np.nan
        f.create_dataset("cube/sigma", data=np.full(y.shape, 0.003, "f4"), **storage)
        f.create_dataset("cube/delay", data=delay).attrs["units"] = "ps"
        mask = np.zeros(frame, "u1")
        mask[..., 7:9] = 1
        f["cube/mask"] = mask


def pair(on, off, write):
    base = 1000 + 100 * random.random((H, W))
    shots = random.integers(20, 40, T)
    for name, y in ((on, signal(H, W)), (off, np.zeros((T, H, W)))):
        with h5py.File(name, "w") as f:
            write(f, base * (1 + y) * shots[:, None, None], shots)


def lcls1(f, sums, shots):
    f["jungfrau_data"] = sums
    f["binVar_bins"] = delay * 1e-12
    f["nEntries"] = shots
    f["ipm2__sum"] = shots * 1.0


def cropped(f, sums, shots):
    f["imgs"] = sums.astype("f4")
    f["scan_var"] = delay * 1e-12
    f["i0"] = shots * 1.0
    f["bin_count"] = shots


cube("plain.h5", (H, W))
cube("frames.h5", (H, W), chunks=(1, H, W), compression="gzip", compression_opts=1)
cube("segments.h5", (SEGMENTS, H, W))
cube("line.h5", (H * W,))
pair("on1.h5", "off1.h5", lcls1)
pair("on.h5", "off.h5", cropped)
with h5py.File("lcls2.h5", "w") as f:
    base, shots = 1000 + 100 * random.random((H, W)), random.integers(20, 40, T)
    order = random.permutation(T)
    for laser, y in (("laser_on", signal(H, W)), ("laser_off", np.zeros((T, H, W)))):
        f[laser + "/jungfrau/calib"] = (base * (1 + y) * shots[:, None, None])[order]
        f[laser + "/jungfrau/count"] = shots[order]
    f["step_value"] = np.arange(1, T + 1)[order]
    f["lxt"] = (delay * 1e-12)[order]
for part, rows in enumerate((slice(0, 40), slice(40, T))):
    with h5py.File(f"part{part}.h5", "w") as f:
        f["y"] = signal(H, W)[rows]
with h5py.File("virtual.h5", "w") as f:
    layout = h5py.VirtualLayout((T, H, W), "f8")
    layout[:40] = h5py.VirtualSource("part0.h5", "y", (40, H, W))
    layout[40:] = h5py.VirtualSource("part1.h5", "y", (T - 40, H, W))
    f.create_virtual_dataset("y", layout, fillvalue=np.nan)
    f["t"] = delay
np.savetxt("trace.csv", np.column_stack([delay, signal(1)[:, 0]]), header="t_ps,y", delimiter=",", comments="")

ROI = "--roi 2:19,3:33"
print(f"""plain plain.h5
plain-roi-bin plain.h5 {ROI} --bin 2x3 --background linear
frames frames.h5 --modes 1
segments segments.h5 --irf-fwhm 0.1 --max-modes 2
segments-bin segments.h5 --bin 2x2 --modes 1
segments-roi segments.h5 {ROI} --bin 4x4 --background exp --modes 1
line line.h5 --modes 1
lcls1 on1.h5 --off off1.h5 --delay-scale 1e12 --modes 1
cropped on.h5 --off off.h5 --delay-scale 1e12 --modes 1 --bin 1x2
lcls2 lcls2.h5 --delay-scale 1e12 --modes 1
virtual --signal virtual.h5:/y --delay virtual.h5:/t --delay-scale 1 --modes 1
backwards --signal virtual.h5:/y --delay virtual.h5:/t --delay-scale -1 --modes 1 --t0 -5.9
trace trace.csv""")
