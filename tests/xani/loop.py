#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The closed loop on silicon: simulate, reduce, fit, pixels and dispersion at three angles, and the frequencies that
come out against those that went in. Prints one JSON object of figures; fails where they miss what is promised.

  loop.py [--shots N] [--side PIXELS] [--photons P] [--softening S]     with SEXTANT in the environment

A pixel counts where its strongest true tone exceeds 5 sigma of a fitted amplitude. Its strongest true tone is compared with
the nearest fitted mode. No measurement of length T separates tones much closer than 1/T: pixels with another tone of
more than 0.3 sigma within 1/T of the strongest have no single truth and are left to the share that need not count."""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

options = argparse.ArgumentParser()
options.add_argument("--shots", type=int, default=50000)
options.add_argument("--side", type=int, default=64)
options.add_argument("--photons", type=float, default=3)
options.add_argument("--softening", type=float, default=0.3)
asked = options.parse_args()

SEXTANT = os.path.abspath(os.environ["SEXTANT"])
HERE = os.path.dirname(os.path.abspath(__file__))
CRYSTALS = os.path.join(HERE, "..", "..", "examples", "crystals")
DATA = os.path.abspath(os.path.join(os.environ.get("SEXTANT_DATA", HERE + "/../../../shared/data"), "phonopy"))
FORCES = [os.path.join(DATA, "Si_FORCE_CONSTANTS_full"), os.path.join(DATA, "Si-gruneisen-orig", "POSCAR-unitcell")]
if not os.path.exists(FORCES[0]):
    FORCES = [os.path.join(CRYSTALS, "silicon." + word) for word in ("FORCE_CONSTANTS", "POSCAR")]
CRYSTAL = os.path.join(CRYSTALS, "silicon.yaml")
ANGLES = [-29, -25.5, -23]
FIRST, LAST, BIN = -0.5, 8, 0.0125  # ps
TOOL_ERROR = 0.005  # ps
OFF_EVERY, DROPPED = 5, 0.1
RESOLUTION = 1 / LAST  # THz
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
seconds = {}


def run(step, *words):
    start = time.time()
    done = subprocess.run([SEXTANT, "xani", step, *map(str, words), "--json"], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    seconds[step] = seconds.get(step, 0) + time.time() - start
    return json.loads(done.stdout)


def write_geometry():
    with open(os.path.join(CRYSTALS, "detector.poni")) as f:
        text = f.read()
    with open("detector.poni", "w") as f:
        f.write(text.replace("64, 64", f"{asked.side}, {asked.side}").replace("0.001", str(0.064 / asked.side)))


def measure(name, angle, seed, pump, shots):
    """One angle from shots to fit; the frames are not kept."""
    said = run("simulate", "--crystal", CRYSTAL, "--geometry", "detector.poni", "--force-constants", FORCES[0],
               "--poscar", FORCES[1], "--angle", f"phi={angle}", "--seed", seed, "--shots", shots, "--photons",
               asked.photons, "--delays", 107, "--delay-first", FIRST, "--jitter", 50, "--time-tool-error",
               1e3 * TOOL_ERROR, "--i0-spread", 0.3, "--i0-offset", 0.1, "--drop-fraction", DROPPED, "--laser-off-every",
               OFF_EVERY, "--dead", 0.002, *pump, "-o", "run.h5",
               "--overwrite")
    run("reduce", "run.h5", "-o", "cube.h5", "--overwrite", "--mask", "run.h5:/truth/mask", "--angle", "phi=scan/phi",
        "--fit-i0-offset", "--bin-width", BIN, "--delay-range", f"{FIRST}:{LAST}")
    run("fit", "cube.h5", "-o", f"{name}.h5")
    with h5py.File("run.h5") as f:
        truth = {word: f["truth"][word][()] for word in f["truth"] if word not in ("delay", "intensity")}
    with h5py.File(f"{name}.h5") as f:
        fit = {word: f["fit"][word][()] for word in f["fit"]}
    return said, truth, fit


def one_sigma(truth, fit):
    """Of the amplitude in each pixel: what fits say, carried to the others by their photons."""
    scale = np.nanmedian(fit["amplitude_errors"] * np.sqrt(truth["photons"]))
    return scale / np.sqrt(np.maximum(truth["photons"], 1e-9))


def alone(truth, sigma, number):
    """Pixels in which no other tone comes near tone `number`."""
    near = np.abs(truth["frequency"] - truth["frequency"][number]) < RESOLUTION
    near[number] = False
    return ~np.any(near & (truth["amplitude"] > 0.3 * sigma), axis=0)


def nearest(fit, frequency):
    """The fitted mode next to a frequency, and its error; NaN where the fit has none."""
    off = np.abs(fit["frequency"] - frequency)
    best = np.argmin(np.where(np.isfinite(off) & (fit["state"] == 0), off, np.inf), axis=0)[None]
    found = np.where(fit["state"] == 0, np.take_along_axis(fit["frequency"], best, 0)[0], np.nan)
    return found, np.take_along_axis(fit["frequency_errors"], best, 0)[0]


def shared(frequency, error, shots):
    """Spread of the mean pull of one angle beyond that of its pixels, as all share the errors of the time tool: these
    tilt the time axis, by sigma / sqrt(shots) over the spread of the delays, and with it all frequencies."""
    on = shots * (1 - 1 / OFF_EVERY) * (1 - DROPPED) * LAST / (LAST - FIRST)
    tilt = TOOL_ERROR / np.sqrt(on) / (LAST / np.sqrt(12))
    return tilt * np.mean(frequency / error)


def check_truth(truth, s):
    """Labels and frequencies of the truth among themselves."""
    nu = truth["nu"]
    for word, kind, sign in (("twice", 0, 1), ("sum", 1, 1), ("difference", 2, -1)):
        here = truth["kind"] == kind
        lower, upper = (np.take_along_axis(nu, np.minimum(truth[b], 5).astype(int), 0) for b in ("lower", "upper"))
        worst = np.max(np.abs(truth["frequency"] - (upper + sign * lower))[here], initial=0)
        assert worst < 2e-6, (word, worst)  # tones within 1e-6 THz are one
    assert np.all(truth["kind"][np.isfinite(truth["frequency"])] == 0) or s is None


def fold(hkl):
    """The zone of a face-centred lattice, by all neighbours."""
    base = np.floor(hkl)
    points = [np.array(p) for p in itertools.product(range(-1, 3), repeat=3)]
    best, found = np.full(hkl.shape[1:], np.inf), np.zeros_like(hkl)
    for p in points:
        g = base + p[:, None, None]
        allowed = np.all(np.mod(g, 2) == np.mod(g[:1], 2), axis=0)
        size = np.where(allowed, np.sum((hkl - g) ** 2, axis=0), np.inf)
        found = np.where(size < best, hkl - g, found)
        best = np.minimum(size, best)
    return found, best


def check_dispersion(truths):
    said = run("dispersion", *[f"fit{i}.h5" for i in range(len(truths))], "--geometry", "pixels.h5", "--crystal", CRYSTAL,
               "--path", "G-X-W-K-G-L", "-o", "dispersion.h5")
    with h5py.File("dispersion.h5") as f:
        zone = np.array([f["pixels/zone_" + i][()] for i in "hkl"])
        path = {word: f["path"][word][()] for word in ("run", "pixel", "frequency")}
    for i, truth in enumerate(truths):
        mine, size = fold(np.array([truth[w] for w in "hkl"]))
        inside = size < 0.99 * np.sum((np.abs(mine) - 1) ** 2, axis=0)  # on borders several are right
        off = np.abs(zone[:, i] - mine)[:, inside]
        assert np.max(off) < 1e-5, np.max(off)
    strongest = np.array([t["frequency"][0].ravel() for t in truths])[path["run"], path["pixel"]] / 2
    off = np.abs(path["frequency"] - strongest)
    assert said["points"] > 20 and np.median(off) < 0.02, (said, np.median(off))
    return said["points"]


def compare():
    """Three angles with all forces softened alike."""
    wanted = counted = left = missed = 0
    off, pull, truths, photons, common = [], [], [], [], 0
    for i, angle in enumerate(ANGLES):
        said, truth, fit = measure(f"fit{i}", angle, i + 1, ["--softening", asked.softening], asked.shots // 3)
        check_truth(truth, asked.softening)
        truths.append(truth)
        sigma = one_sigma(truth, fit)
        strong = (truth["mask"] == 0) & (truth["amplitude"][0] > 5 * sigma)
        single = strong & alone(truth, sigma, 0)
        found, error = nearest(fit, truth["frequency"][0])
        here = single & np.isfinite(found)
        d = (found - truth["frequency"][0])[here]
        wanted, counted, left = wanted + strong.sum(), counted + here.sum(), left + (strong & ~single).sum()
        right = np.abs(d) < RESOLUTION
        missed += (~right).sum()
        common += (right.sum() * shared(found[here][right], error[here][right], asked.shots // 3)) ** 2
        off.append(d / 2)
        pull.append((d / error[here])[right])
        photons.append(np.median(truth["photons"][truth["mask"] == 0]))
    off, pull = np.concatenate(off), np.concatenate(pull)
    pull_mean, spread = np.mean(pull), np.sqrt(len(pull) + common) / len(pull)
    run("pixels", "--geometry", "detector.poni", "-o", "pixels.h5")
    return {"pixels": len(ANGLES) * asked.side ** 2, "above_5_sigma": int(wanted), "close_tones": int(left),
            "counted": round(counted / wanted, 4), "missed": round(missed / counted, 5),
            "rms_nu_thz": round(float(np.sqrt(np.mean(off ** 2))), 5),
            "bias_sigma": round(float(pull_mean / spread), 2), "pull_mean": round(float(pull_mean), 4),
            "pull_mean_error": round(float(spread), 4),
            "pull_width": round(float(np.std(pull)), 4), "points_on_path": check_dispersion(truths),
            "photons_per_pixel": round(float(np.mean(photons)), 3)}


def combine():
    """Bonds to second neighbours softened: sums and differences of phonons, where they are strong enough."""
    _, truth, fit = measure("bonds", ANGLES[1], 9, ["--soften-shells", "0,0.5"], asked.shots // 3)
    check_truth(truth, None)
    sigma = one_sigma(truth, fit)
    figures = {}
    for word, kind in (("sum", 1), ("difference", 2)):
        strong = seen = 0
        for n in range(len(truth["frequency"])):
            here = (truth["mask"] == 0) & (truth["kind"][n] == kind) & (truth["amplitude"][n] > 5 * sigma)
            here &= alone(truth, sigma, n)
            found, error = nearest(fit, truth["frequency"][n])
            strong += here.sum()
            seen += (np.abs(found - truth["frequency"][n]) < np.maximum(5 * error, 0.02))[here].sum()
        figures[word] = {"strong": int(strong), "seen": round(float(seen / max(strong, 1)), 3)}
    return figures


write_geometry()
figures = {"shots": asked.shots, "side": asked.side, "softening": asked.softening, **compare(), "bonds": combine(),
           "seconds": {step: round(value, 2) for step, value in seconds.items()}}
print(json.dumps(figures))
met = {"rms_nu_thz": figures["rms_nu_thz"] < 0.07, "bias_sigma": abs(figures["bias_sigma"]) < 3,
       "pull_width": abs(figures["pull_width"] - 1) < 0.1, "counted": figures["counted"] >= 0.8,
       "missed": figures["missed"] < 0.01,
       "bonds": all(b["strong"] > 10 and b["seen"] > 0.8 for b in figures["bonds"].values())}
if not all(met.values()):
    sys.exit(f"missed: {', '.join(k for k, v in met.items() if not v)}")
