#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The same simulated run in every layout: what European XFEL's gives is what LCLS smalldata gives, and an LCLS1 cube
holds the sums of its frames.
  layouts.py, with SEXTANT in the environment"""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sextant = os.path.abspath(os.environ["SEXTANT"])
crystals = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "crystals"))
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
CRYSTAL = ["--crystal", f"{crystals}/silicon.yaml", "--geometry", f"{crystals}/detector.poni", "--model", "diamond",
           "--angle", "phi=-25.5", "--shots", "600", "--jitter", "50", "--i0-spread", "0.3", "--drop-fraction", "0.1",
           "--laser-off-every", "4", "--delays", "30", "--delay-step", "0.1"]
RUN = "RAW-R0001-SIM01-S00000.h5"


def run(*words, code=0):
    done = subprocess.run([sextant, "xani", *words], capture_output=True, text=True, timeout=100)
    assert done.returncode == code, (words, done)
    return done


run("simulate", *CRYSTAL, "-o", "run.h5")
run("simulate", *CRYSTAL, "--layout", "euxfel", "-o", RUN)
run("simulate", *CRYSTAL, "--layout", "lcls1-cube", "-o", "Cube_on.h5")

BINS = ["--bin-width", "0.1", "--delay-range=-0.8:2.2"]
run("reduce", "run.h5", "-o", "smalldata.h5", "--angle", "phi=scan/phi", *BINS)
run("reduce", RUN, "-o", "euxfel.h5", "--i0", "SIM_XTD_XGM/XGM/DOOCS:output/data/intensityTD", "--angle",
    "phi=SIM_GONIO/AXIS/phi", "--time-tool", "SIM_LAS/PAM/EDGE:output/data/arrival",
    *[word for name in ("laser", "xray", "delay") for word in (f"--{name}", f"SIM_LAS/PPL/PULSES:output/data/{name}")],
    *BINS)
with h5py.File("smalldata.h5") as a, h5py.File("euxfel.h5") as b:
    for name in ("signal", "sigma", "delay", "count", "phi"):
        np.testing.assert_array_equal(a["cube"][name], b["cube"][name], err_msg=name)

with h5py.File("run.h5") as f:
    frames, i0, nominal = f["detector/calib"][()].astype(float), f["ipm2/sum"][()], f["enc/lasDelay"][()]
    laser, xray = f["lightStatus/laser"][()] > 0, f["lightStatus/xray"][()] > 0
    delay = nominal + np.where(laser, f["tt/ttCorr"], 0)
assert not frames[~xray].any() and xray.sum() < 600
bins = np.floor((delay + 0.8) / 0.1 + 0.5).astype(int)
for word, here in (("on", laser & xray), ("off", ~laser & xray)):
    with h5py.File(f"Cube_{word}.h5") as f:
        for b in range(30):
            chosen = here & (bins == b)
            assert f["nEntries"][b] == chosen.sum() == f["detector_nEntries"][b], (word, b)
            np.testing.assert_array_equal(f["detector_data"][b], frames[chosen].sum(0))
            np.testing.assert_allclose(f["ipm2__sum"][b], i0[chosen].sum(), rtol=1e-12)
            np.testing.assert_allclose(f["binVar"][b], delay[chosen].sum(), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(f["binVar_bins"], -0.85 + 0.1 * np.arange(30), atol=1e-12)
run("fit", "Cube_on.h5", "--off", "Cube_off.h5", "--delay-scale", "1", "-o", "fit.h5")

for shots, layout, name, sentence in (("600", "lcls1-cube", "cube.h5", "give a name that ends with _on.h5"),
                                      ("600", "euxfel", "run2.h5", "RAW-R0001-SIM01-S00000.h5"),
                                      ("601", "euxfel", "RAW-R2.h5", "not whole trains of 4 pulses")):
    words = [shots if word == "600" else word for word in CRYSTAL]
    done = run("simulate", *words, "--layout", layout, "-o", name, code=1)
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not os.path.exists(name)
done = run("simulate", *CRYSTAL, "--layout", "cube", "-o", "cube.h5", code=2)
assert "xani reduce" in done.stderr, done.stderr
sys.stdout.write("the layouts agree\n")
