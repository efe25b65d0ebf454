#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job from end to end, on a run whose truth is known: the shots of silicon after a laser pulse at three angles
# of the sample; cubes, fits, the dispersion of its phonons, a report.
#   examples/demo.sh [FOLDER]     after a release build; build/demo by default
set -eu
sextant=${SEXTANT:-build/release/sextant}
folder=${1:-build/demo}
crystals=$(dirname "$0")/crystals
set -- --force-constants "$crystals/silicon.FORCE_CONSTANTS" --poscar "$crystals/silicon.POSCAR" # the forces
mkdir -p "$folder"

run() {
    echo "\$ $*"
    "$@"
    echo
}

n=0
for phi in -29 -25.5 -23; do
    n=$((n + 1))
    echo "--- run $n of 3: the sample at phi = $phi degrees ---"
    echo
    # 10,000 shots of 64 x 64 pixels, as LCLS smalldata: one in five without laser, one in twenty without X-rays.
    run "$sextant" xani simulate --crystal "$crystals/silicon.yaml" --geometry "$crystals/detector.poni" "$@" \
        --angle phi=$phi --seed $n --photons 40 --damping 0.05 --jitter 50 --time-tool-error 5 --i0-spread 0.3 \
        --i0-offset 0.1 --drop-fraction 0.05 --dead 0.001 -o "$folder/run$n.h5" --overwrite

    # Bins of the delay, corrected by the time tool; laser on over laser off.
    run "$sextant" xani reduce "$folder/run$n.h5" --mask "$folder/run$n.h5:/truth/mask" --angle phi=scan/phi \
        --fit-i0-offset --bin-width 0.02 --delay-range=-0.5:8.5 -o "$folder/cube$n.h5" --overwrite

    # A damped cosine or more in every pixel, with errors.
    run "$sextant" xani fit "$folder/cube$n.h5" -o "$folder/fit$n.h5" --overwrite
done

# Where each pixel is, and its scattering vector.
run "$sextant" xani pixels --geometry "$crystals/detector.poni" -o "$folder/pixels.h5" --overwrite

# All angles together in (h, k, l), and along a path beside the bands before the pulse.
run "$sextant" xani dispersion "$folder/fit1.h5" "$folder/fit2.h5" "$folder/fit3.h5" --geometry "$folder/pixels.h5" \
    --crystal "$crystals/silicon.yaml" --path G-X-W-K-G-L --radius 0.05 "$@" -o "$folder/dispersion.h5" --overwrite

# Maps of frequency, amplitude and decay, and one trace.
run "$sextant" xani figure "$folder/fit2.h5" -o "$folder/fit.png" --overwrite

# The same for a browser, with every pixel's trace and the dispersion.
run "$sextant" xani report "$folder/fit2.h5" "$folder/dispersion.h5" -o "$folder/report.html" --overwrite

echo "The picture is $folder/fit.png, the page for a browser $folder/report.html; what is true of the runs is in /truth of"
echo "$folder/run1.h5 to run3.h5."
