#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The closed loop of tests/xani/loop.py at full size: 500,000 shots of 128 x 128 pixels as u16, 16 GB, at three angles,
and a third of that again with bonds softened shell by shell. One run at a time lies on disk, in TMPDIR.
  bench/xani_loop.py build/release/sextant [SHOTS] > bench/results/xani_loop.json"""
import json
import os
import subprocess
import sys
import time

sextant = os.path.abspath(sys.argv[1])
shots = sys.argv[2] if len(sys.argv) > 2 else "500000"
loop = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "xani", "loop.py")
done = subprocess.run([loop, "--shots", shots, "--side", "128", "--photons", "3", "--softening", "0.1"],
                      env={**os.environ, "SEXTANT": sextant}, stdout=subprocess.PIPE, text=True)
version = subprocess.run([sextant, "--version"], capture_output=True, text=True).stdout.strip()
print(json.dumps({"bench": "xani_loop", **json.loads(done.stdout), "met": done.returncode == 0,
                  "machine": f"{os.uname().machine}, {len(os.sched_getaffinity(0))} cores", "commit": version,
                  "date": time.strftime("%Y-%m-%d")}))
