#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs, moves the tree, and builds against it through pkg-config and find_package.
#   consumer.sh BUILD_TREE C_COMPILER
set -eu
build=$1 cc=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unset PKG_CONFIG_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH
cmake --install "$build" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/moved"
prefix=$work/moved
pc=$(dirname "$(find "$prefix" -name sextant.pc)")
library=$(dirname "$pc")

# The library shows nothing but sx_ names.
strange=$(nm -D --defined-only "$library/libsextant.so" | awk '$3 !~ /^(sx_|_init$|_fini$)/ { print $3 }')
[ -z "$strange" ] || { echo "exported without sx_: $strange"; exit 1; }

build_and_run() {
    # shellcheck disable=SC2086,SC2046 # flags are lists of words
    "$cc" -x "$1" "$here/$2" -x none -o "$work/$2.bin" \
        $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs sextant) -Wl,-rpath,"$library" $3
    "$work/$2.bin"
}
build_and_run c consumer.c ''
build_and_run c++ consumer.cpp -lstdc++

# The examples, on a run of ours.
"$prefix/bin/sextant" xani simulate -o "$work/cube.h5" --shape 6x5 --quiet
for example in traces engine; do
    # shellcheck disable=SC2046 # flags are lists of words
    "$cc" "$here/../../examples/$example.c" -o "$work/$example" \
        $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs sextant) -Wl,-rpath,"$library"
done
"$work/traces" "$work/cube.h5" /cube/signal | grep -q '^30 traces in'
"$work/engine" "$work/cube.h5" /cube/signal "$work/maps.h5"
"$prefix/bin/sextant" info "$work/maps.h5" | grep -q '/maps/peak'

cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" >>"$work/log"
cmake --build "$work/build" >>"$work/log"
"$work/build/consumer_c"
"$work/build/consumer_cxx"

"$prefix/bin/sextant" --version
bash -c '. "$1"; complete -p sextant' sh "$prefix/share/bash-completion/completions/sextant"
