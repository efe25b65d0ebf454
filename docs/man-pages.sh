#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the manual pages.
#   man-pages.sh SEXTANT FOLDER [PAGE.scd...]
set -eu
sextant=$1 folder=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder/man1"

# The commands are the lines of --help that begin with the name of the program.
"$sextant" --help | sed -n 's/^ *sextant \([a-z ]*[a-z]\)  .*/\1/p' | while read -r command; do
    # shellcheck disable=SC2086 # group and name are two words
    "$sextant" --man $command | scdoc >"$folder/man1/sextant-$(echo "$command" | tr ' ' -).1"
done
for page; do
    name=$(basename "$page" .scd)
    mkdir -p "$folder/man${name##*.}"
    scdoc <"$page" >"$folder/man${name##*.}/$name"
done
touch "$folder/made"
