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
[ $# -gt 0 ] || set -- gzip lzf blosc lz4 bitshuffle zstd any h5

# Leaks are looked for by the tests. Little is kept back of freed memory: HDF5 frees a lot.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024
export ASAN_OPTIONS=$ASAN_OPTIONS:max_malloc_fill_size=0:quarantine_size_mb=2:thread_local_quarantine_size_kb=64

commit=$(git -C "$here" rev-parse --short=12 HEAD)
machine="$(uname -m), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores"

common=(-timeout=20 -rss_limit_mb=3000 -malloc_limit_mb=0 -print_final_stats=1)

# fuzz TARGET LIMIT [OPTIONS...]
fuzz() {
    local target=$1 limit=$2
    shift 2
    "$build/tests/fuzz/fuzz_$target" "${common[@]}" -runs="$executions" -max_len="$limit" "$@" \
        -artifact_prefix="$build/fuzz/$target-" "$build/fuzz/$target" "$here/corpus/$target" \
        >"$build/fuzz/$target.log" 2>&1
}

# The HDF5 library crashes and hangs on damaged files, so fuzz_h5 goes on after a crash, and each one
# is run again: it is ours if the stack, or the sentence, says so.
is_ours() {
    local said
    said=$("$build/tests/fuzz/fuzz_h5" -timeout=20 "$1" 2>&1) && return 1
    printf '%s\n' "$said" | grep -qE 'finding:|runtime error:' && return 0
    # the first frame, from where it happened, that is the library's or ours
    printf '%s\n' "$said" | grep -E '^ +#[0-9]+ ' | grep -E 'libhdf5|/src/|fuzz_h5\.c' | head -1 |
        grep -vq 'libhdf5'
}

failed=0
for target in "$@"; do
    mkdir -p "$build/fuzz/$target"
    log=$build/fuzz/$target.log
    begin=$SECONDS
    found=0
    library=0
    if [ "$target" = h5 ]; then
        fuzz h5 24576 -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 || true
        count=$(sed -n 's/^#\([0-9]*\): cov.*/\1/p' "$log" | tail -1)
        for input in "$build"/fuzz/h5-*; do
            [ -e "$input" ] || continue
            if is_ours "$input"; then found=$((found + 1)); else library=$((library + 1)); fi
        done
    else
        fuzz "$target" 4096 || found=1
        count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    fi
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    printf '{"bench": "fuzz", "target": "%s", "executions": %s, "edges": %s, "seconds": %d, "findings": %d, ' \
        "$target" "${count:-0}" "${edges:-0}" $((SECONDS - begin)) "$found"
    printf '"in_hdf5": %d, "machine": "%s", "commit": "%s", "date": "%s"}\n' \
        "$library" "$machine" "$commit" "$(date +%F)"
    failed=$((failed + found))
done
[ "$failed" -eq 0 ]
