#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Rate of xani reduce against that of sextant read on the same frames, and its peak of memory for 1 and 10 times the
shots: JSON lines. Files are dropped from the page cache before each cold run, as far as the system lets them.
  bench/reduce.py build/release/sextant [SHOTS] > bench/results/reduce.json"""
import json
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

sextant = os.path.abspath(sys.argv[1])
shots = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
random = np.random.default_rng(1)
SIDE, BLOCK = 128, 500
block = random.poisson(20, (BLOCK, SIDE, SIDE)).astype("u2")


def write(name, n, **storage):
    with h5py.File(name, "w") as f:
        frames = f.create_dataset("det/calib", (n, SIDE, SIDE), "u2", **storage)
        for first in range(0, n, BLOCK):
            frames[first:first + BLOCK] = block
        f["lightStatus/laser"] = np.arange(n, dtype="i1") % 2
        f["ipm2/sum"] = 1000 + 500 * random.random(n)
        f["enc/lasDelay"] = 10 * random.random(n)


def cold(name):
    with open(name, "rb") as f:
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def run(*words):
    out = open("said", "w+")
    child = subprocess.Popen([sextant, *words, "--json"], stdout=out, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, words
    out.seek(0)
    return json.load(out), usage.ru_maxrss / 1024


def tell(case, **figures):
    print(json.dumps({"bench": "reduce", "case": case, "frame": [SIDE, SIDE], **figures,
                      "machine": f"{os.uname().machine}, {len(os.sched_getaffinity(0))} cores",
                      "commit": subprocess.run([sextant, "--version"], capture_output=True, text=True).stdout.strip(),
                      "date": time.strftime("%Y-%m-%d")}), flush=True)


for storage, how in (("contiguous", {}), ("frames", {"chunks": (1, SIDE, SIDE)}),
                     ("gzip", {"chunks": (1, SIDE, SIDE), "compression": "gzip", "compression_opts": 1})):
    n = shots if storage != "gzip" else shots // 2
    write("run.h5", n, **how)
    mb = n * SIDE * SIDE * 2e-6
    rates = {"read": [], "reduce": []}
    for _ in range(3):
        cold("run.h5")
        rates["read"].append(mb / run("read", "run.h5", "/det/calib")[0]["seconds"])
        cold("run.h5")
        rates["reduce"].append(mb / run("xani", "reduce", "run.h5", "-o", "cube.h5", "--overwrite")[0]["seconds"])
    read, reduced = max(rates["read"]), max(rates["reduce"])
    tell(storage, shots=n, read_mb_per_s=round(read), reduce_mb_per_s=round(reduced),
         times_read=round(reduced / read, 3), goal="times_read >= 0.8", met=bool(reduced >= 0.8 * read))
peaks = []
for factor in (1, 10):
    write("run.h5", factor * shots)
    peaks.append(run("xani", "reduce", "run.h5", "-o", "cube.h5", "--overwrite")[1])
tell("memory", shots=[shots, 10 * shots], peak_mb=[round(p, 1) for p in peaks])
