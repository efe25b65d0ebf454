#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# xani fit gives the same file by any number of ranks and threads, for any tile and little memory, of every
# layout of input; and one sentence for all ranks where it fails.
#   ranks.sh BUILD_FOLDER [all], with SEXTANT in the environment; all: every layout by 1 to 4 ranks
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/../support/mpi.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "$*"; exit 1; }
# same NAME COMMAND...: fits an input, and compares with what one thread made of it.
same() {
    local name=$1
    shift
    "$@" xani fit "${args[@]}" -o it.h5 --overwrite -q "${how[@]}" </dev/null || fail "$name: $* ${how[*]} fails"
    "$here/same.py" "fit-$name.h5" it.h5 || fail "$name: $* ${how[*]}"
}

"$here/inputs.py" . >list
[ "$(wc -l <list)" = 13 ] || fail 'there are not 13 inputs'
while read -r name words; do
    read -ra args <<<"$words"
    "$SEXTANT" xani fit "${args[@]}" -o "fit-$name.h5" -q --threads 1 </dev/null
    how=(--threads 2 --tile 3x5)
    same "$name" "$SEXTANT"
    how=(--threads 1 --memory 2M --tile 1x7)
    same "$name" "$SEXTANT"
done <list

if ! has_mpi "$1"; then
    echo 'not tried with several ranks: there is no MPI'
    exit 0
fi
chosen='plain|frames|segments-roi|cropped'
[ "${2:-}" != all ] || chosen='.*'
while read -r name words; do
    read -ra args <<<"$words"
    for n in 1 2 3 4; do
        how=()
        [ $n != 2 ] || how=(--threads 2 --tile 2x9)
        same "$name" ranks $n "$SEXTANT"
    done
done < <(grep -E "^($chosen) " list)

if ranks 3 "$SEXTANT" xani fit nowhere.h5 -o no.h5 2>error; then
    fail 'a missing file is no failure'
fi
grep '^sextant xani fit: ' error | tee said
[ "$(wc -l <said)" = 1 ] || fail 'not one sentence'
grep -q 'nowhere.h5: no such file' said || fail 'it does not name the file'
[ ! -e no.h5 ] || fail 'a failure leaves an output'

# Ranks that see other files than rank 0 would mix two runs in one result.
# shellcheck disable=SC2016 # each rank expands its own
ranked() { ranks 2 bash -c '"$SEXTANT" xani fit "cube$OMPI_COMM_WORLD_RANK.h5" -o mixed.h5 -q $1' -- "$1"; }
for other in 12x10 10x10; do
    "$SEXTANT" xani simulate --shape 10x10 --delays 60 -o cube0.h5 --overwrite -q >/dev/null
    "$SEXTANT" xani simulate --shape "$other" --delays 60 --seed 5 -o cube1.h5 --overwrite -q >/dev/null
    ranked '' 2>error && fail 'ranks with different inputs are not refused'
    grep -q 'rank 1 has other inputs or options than rank 0' error || fail "mixed: $(cat error)"
    [ ! -e mixed.h5 ] || fail 'ranks with different inputs leave an output'
done

# Ranks with different amounts of memory cut the same bands.
"$SEXTANT" xani simulate --shape 60x100 --delays 120 -o uneven.h5 -q >/dev/null
"$SEXTANT" xani fit uneven.h5 -o even.h5 -q --threads 1
# shellcheck disable=SC2016
ranks 2 bash -c '"$SEXTANT" xani fit uneven.h5 -o mixed.h5 -q --memory $((2 + 30 * OMPI_COMM_WORLD_RANK))M' ||
    fail 'ranks with different budgets fail'
"$here/same.py" even.h5 mixed.h5 || fail 'a result depends on the budgets of ranks'
