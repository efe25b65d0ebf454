#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads through h5py on command, for bench_hdf5, which measures in rotation.

Each line of the input is TYPE COUNT PATH [Y X SIZE]: reads /frames of PATH so many times with
read_direct into an array of that type that was touched before; with a spatial tile if one is given.
Answers the seconds of one read, open and close included.
"""
import sys
import time

import h5py
import numpy as np


def read(path, array, selection):
    with h5py.File(path, "r") as file:
        file["frames"].read_direct(array, selection)


def main():
    arrays = {}
    for line in sys.stdin:
        dtype, count, path, *tile = line.split()
        with h5py.File(path, "r") as file:
            shape = file["frames"].shape
        selection = np.s_[:, :, :]
        if tile:
            y, x, size = map(int, tile)
            shape = (shape[0], size, size)
            selection = np.s_[:, y : y + size, x : x + size]
        if (dtype, shape) not in arrays:
            arrays = {(dtype, shape): np.ones(shape, dtype)}
        start = time.perf_counter()
        for _ in range(int(count)):
            read(path, arrays[dtype, shape], selection)
        print((time.perf_counter() - start) / int(count), flush=True)


if __name__ == "__main__":
    main()
