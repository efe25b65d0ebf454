#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A task that is killed goes on where it was, with fewer ranks too, and gives the values of one that was not.
#   killed.sh ENGINE_LONG BUILD_FOLDER, with SEXTANT in the environment
set -euo pipefail
source "$(dirname "$0")/../support/mpi.sh"
program=$1
export LD_LIBRARY_PATH=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sum() { "$SEXTANT" read "$1" /map --json | grep -o '"xxh64": "[^"]*"'; }
fail() { echo "$*"; exit 1; }

# Until the journal has so many bytes, or the program has ended.
wait_for() {
    while kill -0 "$3" 2>/dev/null && [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -lt "$2" ]; do
        :
    done
}
# resume NAME TILES RANKS: the rest, some of it from the journal.
resume() {
    local start=(timeout 120)
    [ "$3" = 1 ] || start=(ranks "$3")
    "${start[@]}" "$program" "$work/$1.h5" resume >"$work/said" || fail "$1 does not go on"
    read -r resumed _ computed _ <"$work/said"
    [ $((resumed + computed)) = "$2" ] || fail "$1: $(cat "$work/said")"
    echo "$1: $resumed resumed, $computed computed"
    [ "$resumed" -gt 0 ] || fail "$1: nothing was resumed"
    [ "$(sum "$work/$1.h5")" = "$expected" ] || fail "$1 gives other values"
    [ ! -e "$work/$1.h5.journal" ] || fail "$1 leaves its journal"
}

"$program" "$work/whole.h5" >/dev/null
expected=$(sum "$work/whole.h5")

for bytes in 600 30000 90000; do
    "$program" "$work/one.h5" >/dev/null &
    wait_for "$work/one.h5.journal" $bytes $!
    kill -9 $! || fail 'it ended before it could be killed'
    wait $! 2>/dev/null && fail 'a killed program succeeds'
    [ ! -e "$work/one.h5" ] || fail 'a killed program leaves an output'
    resume one 400 1
    rm "$work/one.h5"
done
echo "again without resume, beside a journal:"
touch "$work/two.h5.journal"
"$program" "$work/two.h5" 2>"$work/error" && fail 'an old journal is overwritten'
grep 'go on with --resume' "$work/error"
rm "$work/two.h5.journal"

if ! has_mpi "$2"; then
    echo 'not tried with several ranks: there is no MPI'
    exit 0
fi
for ranks in 3 1; do
    "${launch[@]}" 3 "$program" "$work/two.h5" >/dev/null 2>&1 &
    wait_for "$work/two.h5.journal.1" 20000 $!
    victim=$(pgrep -P $! -f engine_long | sed -n 2p)
    kill -9 "$victim"
    wait $! 2>/dev/null && fail 'a job with a killed rank succeeds'
    resume two 400 $ranks
    rm "$work/two.h5"
done
