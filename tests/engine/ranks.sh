#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example of the engine gives the same values by any number of ranks and threads, and one sentence
# where its input is not there.
#   ranks.sh ENGINE BUILD_FOLDER, with SEXTANT in the environment
set -euo pipefail
source "$(dirname "$0")/../support/mpi.sh"
engine=$1
export LD_LIBRARY_PATH=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cube=$work/cube.h5
"$SEXTANT" xani simulate -o "$cube" --shape 70x50 --delays 150 --quiet >"$work/log"

sums() {
    for name in mean peak; do
        "$SEXTANT" read "$1" "/maps/$name" --json | grep -o '"xxh64": "[^"]*"'
    done
}
OMP_NUM_THREADS=1 "$engine" "$cube" /cube/signal "$work/1.h5"
sums "$work/1.h5" >"$work/expected"
[ "$(wc -l <"$work/expected")" = 2 ] || { echo 'there are no two maps'; exit 1; }
OMP_NUM_THREADS=3 "$engine" "$cube" /cube/signal "$work/3.h5"
sums "$work/3.h5" | cmp - "$work/expected"

if ! has_mpi "$2"; then
    echo 'not tried with several ranks: there is no MPI'
    exit 0
fi
for n in 1 2 3 4; do
    ranks "$n" "$engine" "$cube" /cube/signal "$work/r$n.h5"
    sums "$work/r$n.h5" | cmp - "$work/expected"
done
if ranks 3 "$engine" "$work/none.h5" /cube/signal "$work/no.h5" 2>"$work/error"; then
    echo 'a missing file is no failure'
    exit 1
fi
grep '^engine: ' "$work/error" | tee "$work/said"
[ "$(wc -l <"$work/said")" = 1 ] || { echo "not one sentence"; exit 1; }
grep -q 'none.h5' "$work/said"
[ ! -e "$work/no.h5" ]
