#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks over MPI: what holds between them, and how they end.
#   ranks_mpi.sh PROGRAM FOLDER_OF_LIBSEXTANT_MPI
set -u
program=$1
export LD_LIBRARY_PATH=$2
source "$(dirname "$0")/../../tests/support/mpi.sh"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    sed 's/^/    /' "$here/out"
    failures=$((failures + 1))
}
run() {
    local ranks=$1
    shift
    ranks "$ranks" "$@" >"$here/out" 2>"$here/err"
}
# lines COUNT PATTERN: so many lines of the last output match.
lines() { [ "$(grep -cE -- "$2" "$here/out")" = "$1" ]; }

# Started by hand: what a launcher would say, but there is none.
alone() { env "$@" "$program" cases >"$here/out" 2>"$here/err"; }
alone OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 LD_LIBRARY_PATH=/nowhere && fail 'two ranks without MPI'
lines 1 '^not open: mpirun started several processes.*libsextant_mpi.so' || fail 'no MPI is not said'
alone OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 LD_LIBRARY_PATH=/nowhere && fail 'two ranks without MPI'
lines 0 . || fail 'no MPI is said twice'
alone SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=0 && fail 'three tasks without PMI'
lines 1 '^not open: Slurm started 3 processes' || fail 'no PMI is not said'
alone SLURM_NTASKS=3 SLURM_PROCID=0 || fail 'a batch script of Slurm is one rank'

if ! command -v mpirun >/dev/null; then
    echo "skipped: there is no mpirun"
    [ "$failures" = 0 ] && exit 77
    exit 1
fi

alone PMI_RANK=0 PMI_SIZE=3 && fail 'MPI of another launcher'
lines 1 '^not open: mpirun started 3 processes, but MPI sees 1' || fail 'another launcher is not said'

for ranks in 1 2 3 4; do
    run "$ranks" "$program" cases || fail "$ranks ranks"
    lines $ranks "of $ranks: done" || fail "$ranks ranks are not done"
done

for rank in 0 1 2; do
    run 3 "$program" fail $rank && fail "rank $rank fails, mpirun does not"
    lines 3 "^rank . of 3: rank $rank: disk $rank is full" || fail "the failure of rank $rank is not known to all"
done

# A rank is killed: the launcher ends the others, or, if it was told not to, they notice.
for rank in 0 1; do
    run 3 "$program" die $rank && fail "rank $rank dies, mpirun does not"
    grep -q "rank $rank .*signal 9" "$here/err" || fail "mpirun does not say who died: $(cat "$here/err")"
    lines 0 'done' || fail "done in spite of dead rank $rank"
    run 3 --enable-recovery "$program" die $rank
    lines 2 "rank $rank has given no sign of life" || fail "dead rank $rank is not missed"
done

# One rank is asked to stop, and all do. (mpirun, when it is asked, does not always wait for their words.)
mkfifo "$here/words"
timeout 120 "${launch[@]}" 3 "$program" work >"$here/words" 2>/dev/null &
job=$!
exec 3<"$here/words"
for _ in 1 2 3; do
    read -r _ <&3
done
kill -TERM "$(pgrep -P "$(pgrep -P $job)" | tail -n 1)"
cat <&3 >"$here/out"
exec 3<&-
wait $job && fail 'a job that was stopped does not fail'
lines 3 ': cancelled' || fail 'SIGTERM does not end the ranks'

echo "$failures failures"
[ "$failures" = 0 ]
