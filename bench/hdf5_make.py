#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files that bench_hdf5 reads: frames of counted photons with rings, stored in many ways.

usage: hdf5_make.py FOLDER

What is there already is kept. Bitshuffle-LZ4 needs its filter (Debian package bitshuffle, found
through HDF5_PLUGIN_PATH); without it that file is left out.
"""
import os
import sys

import h5py
import numpy as np

T, H, W = 200, 704, 768
BITSHUFFLE, LZ4 = 32008, 2


def frames():
    """A few frames of Poisson counts, each used several times, shifted."""
    rng = np.random.Generator(np.random.Philox(1))
    y, x = np.mgrid[:H, :W]
    r = np.hypot(y - H / 2, x - W / 2)
    mean = 1.5 + 6 * np.exp(-r / 150) * np.cos(r / 18) ** 4
    some = rng.poisson(mean, size=(20, H, W)).astype(np.uint16)
    return np.stack([np.roll(some[t % 20], 7 * (t // 20), axis=1) for t in range(T)])


def dataset(path, values, **options):
    """One dataset of the given storage, under a temporary name until it is complete."""
    if os.path.exists(path):
        return
    with h5py.File(path + ".part", "w") as file:
        file.create_dataset("frames", data=values, **options)
    os.rename(path + ".part", path)


def virtual(path, values, parts):
    """A dataset whose frames lie in so many other files."""
    if os.path.exists(path):
        return
    folder = path + ".sources"
    os.makedirs(folder, exist_ok=True)
    layout = h5py.VirtualLayout(shape=values.shape, dtype=values.dtype)
    step = len(values) // parts
    for i in range(parts):
        part = values[i * step : (i + 1) * step]
        name = os.path.join(os.path.basename(folder), f"{i:04}.h5")
        with h5py.File(os.path.join(os.path.dirname(path), name), "w") as file:
            file.create_dataset("frames", data=part)
        layout[i * step : (i + 1) * step] = h5py.VirtualSource(name, "frames", shape=part.shape)
    with h5py.File(path + ".part", "w") as file:
        file.create_virtual_dataset("frames", layout)
    os.rename(path + ".part", path)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)

    def path(name):
        return os.path.join(folder, name + ".h5")

    counts = frames()
    frame = (1, H, W)
    dataset(path("contiguous"), counts)
    dataset(path("chunks"), counts, chunks=frame)
    dataset(path("gzip"), counts, chunks=frame, shuffle=True, compression="gzip", compression_opts=4)
    if h5py.h5z.filter_avail(BITSHUFFLE):
        options = {"compression": BITSHUFFLE, "compression_opts": (0, LZ4)}
        dataset(path("bitshuffle"), counts, chunks=frame, **options)
    dataset(path("tiles"), counts, chunks=(T, 16, 16))
    dataset(path("blocks"), counts, chunks=(10, 64, 64), shuffle=True, compression="gzip", compression_opts=1)
    virtual(path("virtual"), counts, 20)
    virtual(path("virtual500"), np.tile(counts[:100, :64, :64], (5, 1, 1)), 500)
    dataset(path("float"), counts * np.float32(0.37))
    dataset(path("many"), np.resize(counts, (1000, 320, 640)), chunks=(1, 32, 64))


if __name__ == "__main__":
    main()
