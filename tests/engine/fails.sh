#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong ends all ranks soon, with one sentence, and leaves no output.
#   fails.sh ENGINE_FAILS BUILD_FOLDER, with SEXTANT in the environment
set -euo pipefail
source "$(dirname "$0")/../support/mpi.sh"
program=$1
export LD_LIBRARY_PATH=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; cat "$work/error"; exit 1; }
"$program" make "$work/cube.h5"

# fails RANKS WORD PATTERN: exit status 1 and one sentence.
fails() {
    local status=0
    local start=(timeout 60)
    [ "$1" = 1 ] || start=(ranks "$1")
    "${start[@]}" "$program" "$2" "$work/cube.h5" "$work/out" 2>"$work/error" || status=$?
    [ $status = 1 ] || fail "$2 by $1: status $status"
    grep '^engine_fails: ' "$work/error" >"$work/said" || fail "$2 by $1: not a word"
    [ "$(wc -l <"$work/said")" = 1 ] || fail "$2 by $1: not one sentence"
    echo "$1: $(cat "$work/said")"
    grep -qE "$3" "$work/said" || fail "$2 by $1: another sentence"
    rm -f "$work"/out.r[0-9]
}

all=(1 3)
has_mpi "$2" || { echo 'not tried with several ranks: there is no MPI'; all=(1); }
for n in "${all[@]}"; do
    fails "$n" memory "task 'add up', tiles 0 to 0, rank [0-2]: no memory to read 2147483648 bytes"
    fails "$n" tile "task 'add up', tile 7 \(i 2, j 768\), rank [0-2]: its disk is on fire"
    fails "$n" disk "out cannot be written .*: File too large"
    [ ! -e "$work/out" ] || fail 'a full disk leaves an output'
    fails "$n" journal "task 'add up'.*out.*(File too large|full)"
    rm -f "$work"/out*

    start=()
    [ "$n" = 1 ] || start=(ranks "$n")
    "${start[@]}" "$program" budget "$work/cube.h5" "$work/out" 2>"$work/error" || fail "64 MB are too little for $n"
    "$SEXTANT" read "$work/out" /sum --json | grep -o '"xxh64": "[^"]*"' >>"$work/sums"
    "$SEXTANT" read "$work/out" /map --json | grep -o '"xxh64": "[^"]*"' >>"$work/maps"
    rm "$work/out"
done
[ "$(sort -u "$work/sums" | wc -l)" = 1 ] || fail 'sums depend on ranks'
[ "$(sort -u "$work/maps" | wc -l)" = 1 ] || fail 'maps depend on ranks'

for n in "${all[@]}"; do
    rm "$work/cube.h5"
    "$program" make "$work/cube.h5"
    fails "$n" cut "task 'add up', tiles .* rank [0-2]: .*cube.h5:/frames: .* the file ends at 943718400: it was cut"
done
