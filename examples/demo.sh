#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job from end to end, on a run whose truth is known: simulate, fit, draw, report.
#   examples/demo.sh [FOLDER]     from the project's folder, after a release build; build/demo by default
set -eu
sextant=${SEXTANT:-build/release/sextant}
folder=${1:-build/demo}
mkdir -p "$folder"

run() {
    echo "\$ $*"
    "$@"
    echo
}

# 64 x 64 pixels, 120 delays: a crystal after a laser pulse, with photon noise.
run "$sextant" xani simulate -o "$folder/cube.h5" --overwrite

# A damped cosine or more in every pixel, with errors.
run "$sextant" xani fit "$folder/cube.h5" -o "$folder/fit.h5" --overwrite

# Maps of frequency, amplitude and decay, and one trace.
run "$sextant" xani figure "$folder/fit.h5" -o "$folder/fit.png" --overwrite

# The same for a browser, with every pixel's trace.
run "$sextant" xani report "$folder/fit.h5" -o "$folder/report.html" --overwrite

echo "The picture is $folder/fit.png, the page for a browser $folder/report.html; the maps are in $folder/fit.h5."
