#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A fit that is stopped or killed at a random moment goes on with --resume, with another number of ranks too,
# and gives the file of one that was left alone.
#   killed.sh BUILD_FOLDER [TIMES [SEED]], with SEXTANT in the environment
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../support/mpi.sh"
times=${2:-5}
RANDOM=${3:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "$*"; exit 1; }
size() { { cat fit.h5.journal* 2>/dev/null || true; } | wc -c; }
# start RANKS: in the background, as $job.
start() {
    local with=()
    [ "$1" = 1 ] || with=("${launch[@]}" "$1")
    "${with[@]}" "$SEXTANT" xani fit cube.h5 -o fit.h5 -q --resume --tile 1x20 >out 2>err </dev/null &
    job=$!
}
# Until the journals have so many bytes, or the job has ended.
wait_for() {
    while kill -0 $job 2>/dev/null && [ "$(size)" -lt "$1" ]; do
        :
    done
}
# The processes that fit: the job itself, or the children of mpirun.
fitting() {
    if [ "$1" = 1 ]; then echo $job; else pgrep -P $job -f 'xani fit' || true; fi
}

"$SEXTANT" xani simulate --shape 100x100 --delays 120 -o cube.h5 -q >/dev/null
"$SEXTANT" xani fit cube.h5 -o whole.h5 -q
start 1
most=0
while kill -0 $job 2>/dev/null; do
    now=$(size)
    most=$((now > most ? now : most))
done
wait $job || fail "a fit with --resume fails: $(cat err)"
"$here/same.py" whole.h5 fit.h5 || fail 'a journal changes the result'
[ ! -e fit.h5.journal ] || fail 'a fit leaves its journal'
rm fit.h5
echo "the journal has up to $most bytes"

several=3
has_mpi "$1" || several=1
for ((i = 0; i < times; i++)); do
    n=$((i % 2 ? several : 1))
    how=$((i % 4 == 3 ? 1 : 0)) # kill all ranks, not one
    signal=$((i % 3 == 2 ? 15 : 9))
    at=$((RANDOM * 32768 + RANDOM))
    at=$((at % most))
    start $n
    wait_for $at
    mapfile -t victims < <(fitting $n)
    if [ $how = 0 ] && [ ${#victims[@]} -gt 1 ]; then
        victims=("${victims[RANDOM % ${#victims[@]}]}")
    fi
    kill -$signal "${victims[@]}" 2>/dev/null || true
    for ((tenths = 0; tenths < 100; tenths++)); do # the others end, too
        kill -0 $job 2>/dev/null || break
        read -rt 0.1 <> <(:) || true
    done
    kill -0 $job 2>/dev/null && fail "ranks live on 10 s after one of them was killed"
    wait $job 2>/dev/null && [ ! -e fit.h5 ] && fail 'a killed fit succeeds'
    if [ -e fit.h5 ]; then
        again='(it was done)'
    else
        m=$((RANDOM % several + 1))
        start $m
        wait $job || fail "it does not go on: $(cat err)"
        again="and on by $m"
    fi
    echo "$n ranks, signal $signal after $at bytes, $again"
    "$here/same.py" whole.h5 fit.h5 || fail 'it gives another result'
    rm -f fit.h5*
done

# A journal of another run is refused and kept; a fit that is stopped says how to go on.
start 1
wait_for 50000
kill -INT $job
wait $job && fail 'a stopped fit succeeds'
grep -q 'what is finished is kept in fit.h5.journal: go on with --resume' err || fail "stopped: $(cat err)"
if "$SEXTANT" xani fit cube.h5 -o fit.h5 -q --resume --tile 1x20 --modes 1 2>err; then
    fail 'a journal of other options is taken'
fi
grep -q 'fit.h5.journal belongs to another run, with other inputs or options' err || fail "foreign: $(cat err)"
[ "$(wc -l <err)" = 1 ] || fail "more than one sentence: $(cat err)"
touch -d '2001-01-01' cube.h5
"$SEXTANT" xani fit cube.h5 -o fit.h5 -q --resume --tile 1x20 2>err && fail 'a journal of another input is taken'
[ ! -e fit.h5 ] || fail 'a refused journal leaves an output'
"$SEXTANT" xani fit cube.h5 -o fit.h5 -q 2>err
grep -q 'this one begins anew' err || fail "nothing is said about the old journal: $(cat err)"
