#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the manual pages. Page 1 of a command comes from its table of options, then NAME.1.scd.in
# and end.scd.in; the others are written by hand but for the line @STATES@.
#   man-pages.sh SEXTANT FOLDER SOURCES
set -eu
sextant=$1 folder=$2 sources=$3
rm -rf "$folder"
mkdir -p "$folder/man1" "$folder/man5" "$folder/man7"

# The commands are the lines of --help that begin with the name of the program.
"$sextant" --help | sed -n 's/^ *sextant \([a-z ]*[a-z]\)  .*/\1/p' | while read -r command; do
    name=sextant-$(echo "$command" | tr ' ' -).1
    # shellcheck disable=SC2086 # group and name are two words
    "$sextant" --man $command | cat - "$sources/$name.scd.in" "$sources/end.scd.in" |
        scdoc >"$folder/man1/$name"
done
"$sextant" --man states >"$folder/states"
for page in "$sources"/*.scd; do
    name=$(basename "$page" .scd)
    sed -e "/^@STATES@$/{
        r $folder/states
        d
    }" "$page" | scdoc >"$folder/man${name##*.}/$name"
done
rm "$folder/states"
touch "$folder/made"
