#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# web/dist is what web/src builds to. Skipped where the tools to build it were not fetched (npm ci in web/).
#   bundle.sh WEB
set -eu
web=$1
esbuild=$web/node_modules/.bin/esbuild
[ -x "$esbuild" ] || { echo "skipped: npm ci in web/ fetches what builds the page"; exit 77; }
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
cd "$web"
npm run --silent build -- --outdir="$made" >/dev/null 2>&1
for file in report.js report.css; do
    cmp "$made/$file" "dist/$file" || { echo "web/dist/$file is not what web/src builds to: npm run build in web/"; exit 1; }
done
