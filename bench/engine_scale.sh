#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what the engine costs on two ranks, and a job on 1, 2 and 4; then computes jobs of up to 4,096
# ranks. JSON lines; fails if the model does not agree with what was measured.
#   bench/engine_scale.sh build/release > bench/results/engine_scale.json
set -euo pipefail
build=${1:?build folder}
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../tests/support/mpi.sh"
export LD_LIBRARY_PATH=$build
read -ra costs < <(ranks 2 "$build/bench_engine_scale" costs)
for n in 1 2 4; do
    ranks "$n" "$build/bench_engine_scale" job
done | "$build/bench_engine_scale" model "${costs[@]}"
