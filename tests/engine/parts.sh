#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files of 1 to 4 ranks, seen as one dataset: the same values for our reader and for h5py.
#   parts.sh ENGINE_PARTS BUILD_FOLDER, with SEXTANT in the environment
set -euo pipefail
source "$(dirname "$0")/../support/mpi.sh"
program=$1
export LD_LIBRARY_PATH=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

"$SEXTANT" xani simulate -o "$work/cube.h5" --shape 31x20 --delays 50 --quiet >"$work/log"
sum() { "$SEXTANT" read "$1" /volume/y --json | grep -o '"xxh64": "[^"]*"'; }
"$program" "$work/cube.h5" /cube/signal "$work/1.h5"
expected=$(sum "$work/1.h5")

most=4
has_mpi "$2" || { echo 'not tried with several ranks: there is no MPI'; most=1; }
for ((n = 2; n <= most; n++)); do
    ranks "$n" "$program" "$work/cube.h5" /cube/signal "$work/$n.h5"
    [ "$(sum "$work/$n.h5")" = "$expected" ] || fail "$n ranks give other values"
    parts=("$work/$n.h5".*)
    [ ${#parts[@]} = "$n" ] || fail "$n ranks do not write $n files"
done

# Parts are found from their own folder, wherever it is.
mkdir "$work/moved"
mv "$work"/*.h5 "$work"/*.h5.* "$work/moved" 2>"$work/log" || [ $most = 1 ]
for ((n = 1; n <= most; n++)); do
    [ "$(sum "$work/moved/$n.h5")" = "$expected" ] || fail "$n ranks give other values when moved"
    /usr/bin/python3 - "$work/moved" $n <<'END' || fail "h5py sees other values of $n ranks"
import sys
try:
    import h5py
except ImportError:
    print("not read with h5py: it is not installed")
    sys.exit()
folder, n = sys.argv[1:]
with h5py.File(f"{folder}/{n}.h5") as f, h5py.File(f"{folder}/cube.h5") as cube:
    y = f["/volume/y"]
    assert y.is_virtual == (n != "1") and y.attrs["units"] in ("ADU", b"ADU")
    assert y[()].tobytes() == (2.0 * cube["/cube/signal"][()].astype("f8")).tobytes()
END
done
