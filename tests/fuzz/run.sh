#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs fuzz targets from the committed corpus and prints a JSON line with the executions of each.
#   run.sh BUILD EXECUTIONS [TARGET...]     BUILD: build/fuzz, EXECUTIONS: of each target
# What is found stays in BUILD/fuzz/TARGET-*; further corpus in BUILD/fuzz/TARGET. Exit 1 if any.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '3,5s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
executions=$2
shift 2
[ $# -gt 0 ] || set -- gzip lzf blosc lz4 bitshuffle zstd any

# Leaks are looked for by the tests; HDF5 keeps what it likes until the end.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1

failed=0
for target in "$@"; do
    kept=$build/fuzz/$target
    mkdir -p "$kept"
    begin=$SECONDS
    found=0
    "$build/tests/fuzz/fuzz_$target" -runs="$executions" -max_len=4096 -timeout=30 -print_final_stats=1 \
        -artifact_prefix="$kept-" "$kept" "$here/corpus/$target" >"$kept.log" 2>&1 || found=1
    done_=$(sed -n 's/^stat::number_of_executed_units: *//p' "$kept.log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$kept.log" | tail -1)
    printf '{"target": "%s", "executions": %s, "edges": %s, "seconds": %d, "findings": %d}\n' \
        "$target" "${done_:-0}" "${covered:-0}" $((SECONDS - begin)) "$found"
    failed=$((failed + found))
done
[ "$failed" -eq 0 ]
