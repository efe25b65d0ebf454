#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every model of the table is a line of a page.
#   models.sh PROGRAM PAGE     PROGRAM --models prints the lines
set -eu
"$1" --models | {
    missing=0
    while IFS= read -r line; do
        grep -qFx -- "$line" "$2" || { echo "$2 lacks: $line" >&2; missing=1; }
    done
    exit $missing
}
