#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The whole command on a 512 x 512 x 200 cube: time, rate and peak of memory as one JSON line.
#   bench/xani_fit.sh build/release/sextant [fit options...]
set -euo pipefail
sextant=${1:?path of the sextant binary}
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$sextant" xani simulate --shape 512x512 --delays 200 --delay-step 0.05 -o "$folder/cube.h5" --quiet > /dev/null
start=$(date +%s.%N)
summary=$("$sextant" xani fit "$folder/cube.h5" -o "$folder/fit.h5" --quiet --json "$@")
end=$(date +%s.%N)
printf '{"bench": "xani_fit", "machine": "%s, %s cores", "commit": "%s", "date": "%s", "options": "%s", "cube_bytes": %s, "fit_bytes": %s, "wall_seconds": %.2f, "summary": %s}\n' \
  "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$("$sextant" --version)" "$(date -u +%F)" "$*" \
  "$(stat -c %s "$folder/cube.h5")" "$(stat -c %s "$folder/fit.h5")" \
  "$(awk -v a="$start" -v b="$end" 'BEGIN { print b - a }')" "$summary"
