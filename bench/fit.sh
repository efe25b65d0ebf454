#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fits against SciPy, lmfit, MINPACK and GSL, and what grows with what: JSON lines.
#   bench/fit.sh build/release [rounds [options of bench_fit]] > bench/results/fit.json
# tools/setup.sh bench installs the others; what is missing is left out and named.
set -euo pipefail
build=${1:?folder of the build}
rounds=${2:-5}
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
mkfifo "$scratch/ask" "$scratch/answer"
pinned=(taskset -c $(($(nproc) - 1)))

"${pinned[@]}" /usr/bin/python3 "$here/fit_scipy.py" < "$scratch/ask" > "$scratch/answer" &
"${pinned[@]}" "$build/bench_fit" -r "$rounds" -p "$scratch" "${@:3}" compare 4> "$scratch/ask" 3< "$scratch/answer"
"${pinned[@]}" "$build/bench_fit" -r "$rounds" "${@:3}" lengths
"${pinned[@]}" "$build/bench_fit" -r "$rounds" "${@:3}" pixels
"$build/bench_fit" -r "$rounds" "${@:3}" threads
