#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Maximum likelihood of sagips against the Cramer-Rao bound: replicas of proxy1d, the scatter of each parameter over
the published bound, pulls, and the seconds of one solve on one core. One JSON line.
  bench/sagips_likelihood.py build/release/sextant [REPLICAS] > bench/results/sagips_likelihood.json"""
import json
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

sextant = os.path.abspath(sys.argv[1])
replicas = int(sys.argv[2]) if len(sys.argv) > 2 else 200
EVENTS = 100000
BOUND = np.array([0.0272, 0.0087, 0.0077, 0.0308, 0.0183, 0.0205])  # Lersch et al. 2025, norms known
TRUTH = np.array([0.72916667, 0.25, 0.6, 0.36458333, 0.25, 0.8])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
found, errors, seconds, states = [], [], [], []
for seed in range(1, replicas + 1):
    subprocess.run([sextant, "sagips", "simulate", "--events", str(EVENTS), "--seed", str(seed), "-o", "events.h5",
                    "--overwrite", "--quiet"], check=True)
    start = time.time()
    subprocess.run([sextant, "sagips", "solve", "events.h5", "-o", "solution.h5", "--overwrite", "--quiet", "--threads",
                    "1"], check=True)
    seconds.append(time.time() - start)
    with h5py.File("solution.h5") as f:
        found.append(f["solution/parameters"][:])
        errors.append(f["solution/errors"][:])
        states.append(f["solution"].attrs["state"])
found, errors = np.array(found), np.array(errors)
pulls = (found - TRUTH) / errors
states = [s.decode() if isinstance(s, bytes) else s for s in states]
width, mean = pulls.std(0, ddof=1), pulls.mean(0)
times = found.std(0, ddof=1) / BOUND
print(json.dumps({
    "bench": "sagips_likelihood", "events": EVENTS, "replicas": replicas, "ok": states.count("ok"),
    "times_bound": times.round(3).tolist(), "pull_mean": mean.round(3).tolist(), "pull_width": width.round(3).tolist(),
    "seconds_median": round(float(np.median(seconds)), 3), "seconds_most": round(max(seconds), 3),
    "goal": "times_bound within 15 %, pull mean 0 +- 0.21, width 1 +- 0.15, one solve under 1 s",
    "met": bool((abs(times - 1) < 0.15).all() and (abs(mean) < 0.21).all() and (abs(width - 1) < 0.15).all()
                and np.median(seconds) < 1),
    "machine": f"{os.uname().machine}, {len(os.sched_getaffinity(0))} cores",
    "commit": subprocess.run([sextant, "--version"], capture_output=True, text=True).stdout.strip(),
    "date": time.strftime("%Y-%m-%d")}))
