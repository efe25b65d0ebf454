#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/check-layers lets a tree pass whose includes look down, and names each one that does not.
#   climbing.sh SOURCE_TREE
set -eu
check=$1/tools/check-layers
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failed=0

# expect WORDS FILE INCLUDE: a tree with only that include is refused with those words; "" passes.
expect() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/include/sextant" "$tree/src" "$tree/cli" "$(dirname "$tree/$2")"
    printf '#include %s\n' "$3" >"$tree/$2"
    if said=$("$check" "$tree"); then found=0; else found=$?; fi
    if [ -z "$1" ]; then
        [ "$found" -eq 0 ] && return
    elif [ "$found" -eq 1 ] && printf '%s\n' "$said" | grep -qF "$2:1: $1"; then
        return
    fi
    echo "$2 with #include $3: exit $found, said '$said', expected '$1'"
    failed=1
}

expect '' src/xani/fit.c '"io/hdf5/h5file.h"'
expect '' src/xani/fit.c '"source.h"'
expect '' src/xani/fit.c '<sextant/array.h>'
expect '' src/numer/lm.c '<math.h>'
expect '' cli/main.c '<sextant/xani.h>'
expect '' cli/main.c '"commands.h"'
expect 'base must not include "array/array_round.h" of array' src/base/rng.c '"array/array_round.h"'
expect 'base must not include "sextant/array.h" of array' include/sextant/status.h '<sextant/array.h>'
expect 'numer must not include "io/hdf5/h5file.h" of io' src/numer/lm.c '"io/hdf5/h5file.h"'
expect 'io must not include "numer/lm.h" of numer' src/io/table/csv.c '  "numer/lm.h"'
expect 'xani must not include "astia/wcs.h" of astia' src/xani/fit.c '"astia/wcs.h"'
expect '"base/fail.h" is not public' cli/main.c '"base/fail.h"'
expect '"../base/fail.h" goes through ..' src/numer/lm.c '"../base/fail.h"'
expect '"magic/wand.h" belongs to no layer' src/numer/lm.c '"magic/wand.h"'
expect 'belongs to no layer' src/magic/wand.c '<math.h>'
exit $failed
