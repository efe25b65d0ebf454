#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reading HDF5 against H5Dread, pread and h5py: JSON lines. Makes its files (1.7 GB) unless FOLDER has
# them from before; without FOLDER they are made anew and removed.
#   bench/hdf5.sh build/release/bench_hdf5 [FOLDER [rounds [case]]] > bench/results/hdf5.json
# Bitshuffle-LZ4 needs its filter (Debian package bitshuffle, or HDF5_PLUGIN_PATH).
set -euo pipefail
bench=${1:?path of bench_hdf5}
folder=${2:-}
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
folder=${folder:-$scratch}
/usr/bin/python3 "$here/hdf5_make.py" "$folder"
mkfifo "$scratch/ask" "$scratch/answer"
/usr/bin/python3 "$here/hdf5_h5py.py" < "$scratch/ask" > "$scratch/answer" &
"$bench" "$folder" "${@:3}" 4> "$scratch/ask" 3< "$scratch/answer"
