#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the manual pages with mandoc, and that each page which they name is among them.
#   man-check.sh FOLDER
set -eu
cd "$1"
# Its warnings are about paragraphs that scdoc leaves empty.
mandoc -T lint -W error man?/*
sed 's/\\fR(/(/g; s/\\//g' man?/* | grep -oE 'sextant[-a-z0-9.]*\([157]\)' | sort -u | {
    bad=0
    while read -r named; do
        section=${named##*\(}
        page=man${section%)}/${named%\(*}.${section%)}
        [ -f "$page" ] || { echo "$page is named but not there" && bad=1; }
    done
    exit "$bad"
}
