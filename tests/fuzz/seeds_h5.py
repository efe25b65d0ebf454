#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""seeds_h5.py FOLDER: writes the corpus of fuzz_h5: a small file for every layout, index, filter and
kind of element. Run once for a new kind; the output is committed."""
import os
import struct
import sys
import zlib

import h5py
import numpy as np

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def make(name, fill, **options):
    with h5py.File(os.path.join(folder, name), "w", **options) as file:
        fill(file)


def values(*shape, dtype="<u2"):
    return (np.arange(np.prod(shape)) * 7 % 251).reshape(shape).astype(dtype)


def numbers(file):
    file["numbers"] = values(6, 7)
    file["big"] = values(5, 4, dtype=">f4")


def kinds(file):
    file["half"] = values(9, dtype="<f2")
    file["scalar"] = 3.5
    file["truth"] = np.array([True, False, True])


def bytes_only(file):
    file["record"] = np.array([(1, 2.0), (3, 4.0)], [("a", "<i4"), ("b", "<f8")])
    file["text"] = np.array([b"one", b"two"], "S5")
    file["none"] = np.zeros((0, 3), "<i4")


def low_level(name, prepare, shape=(6, 6), dtype="<u2", most=None):
    def fill(file):
        created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        prepare(created)
        space = h5py.h5s.create_simple(shape, most)
        kind = h5py.h5t.py_create(np.dtype(dtype))
        dataset = h5py.h5d.create(file.id, name, kind, space, created)
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values(*shape, dtype=dtype))
    return fill


def compact(created):
    created.set_layout(h5py.h5d.COMPACT)


def early(created):
    created.set_chunk((2, 3))
    created.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)


def dataset(name, *shape, dtype="<u2", **options):
    return lambda file: file.create_dataset(name, data=values(*shape, dtype=dtype), **options)


def hole(file):
    file.create_dataset("hole", (8,), "<i2", chunks=(2,), fillvalue=-3)[2:4] = 5


def masked(file):
    made = file.create_dataset("masked", (4, 8), "<u2", compression="gzip", chunks=(4, 8))
    made.id.write_direct_chunk((0, 0), values(4, 8).tobytes(), 1)


def foreign(number, stored, *client):
    """A filter that this HDF5 may lack: 32 bytes, as a raw chunk."""
    def fill(file):
        created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        created.set_chunk((32,))
        created.set_filter(number, h5py.h5z.FLAG_OPTIONAL, client)
        space = h5py.h5s.create_simple((32,))
        made = h5py.h5d.create(file.id, b"foreign", h5py.h5t.STD_U8LE, space, created)
        made.write_direct_chunk((0,), stored)
    return fill


def virtual(file):
    file["source"] = values(4, 6)
    layout = h5py.VirtualLayout((4, 12), "<u2")
    layout[:, 0:6] = h5py.VirtualSource(file["source"])
    layout[0:2, 6:12:2] = h5py.VirtualSource(file["source"])[1:3, 0:3]
    file.create_virtual_dataset("virtual", layout, fillvalue=9)


def nested(file):
    virtual(file)
    layout = h5py.VirtualLayout((2, 12), "<u2")
    layout[:] = h5py.VirtualSource(".", "virtual", (4, 12), "<u2")[2:4, :]
    file.create_virtual_dataset("nested", layout)


def missing(file):
    layout = h5py.VirtualLayout((3,), "<f4")
    layout[:] = h5py.VirtualSource("nowhere.h5", "x", (3,), "<f4")
    file.create_virtual_dataset("missing", layout)


def printf(file):
    for i in range(2):
        file[f"part_{i}"] = values(2, 3)
    created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    space = h5py.h5s.create_simple((4, 3), (h5py.h5s.UNLIMITED, 3))
    space.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (2, 3), (2, 3))
    created.set_virtual(space, b".", b"part_%b", h5py.h5s.create_simple((2, 3)))
    space = h5py.h5s.create_simple((4, 3), (h5py.h5s.UNLIMITED, 3))
    h5py.h5d.create(file.id, b"printf", h5py.h5t.STD_U16LE, space, created)


data = values(32, dtype="u1").tobytes()
tiles = {"chunks": (3, 4)}
rows = {"chunks": (4, 8)}
files = {
    "numbers": numbers,
    "kinds": kinds,
    "bytes": bytes_only,
    "compact": low_level(b"compact", compact),
    "plain": dataset("plain", 7, 9, **tiles),
    "grows": dataset("grows", 7, 9, maxshape=(None, 9), **tiles),
    "grows_last": dataset("grows_last", 4, 6, chunks=(2, 3), maxshape=(4, None)),
    "grows_twice": dataset("grows_twice", 5, 5, chunks=(2, 2), maxshape=(None, None)),
    "one": dataset("one", 4, 4, chunks=(4, 4)),
    "hole": hole,
    "gzip": dataset("gzip", 8, 16, compression="gzip", **rows),
    "all": dataset("all", 8, 16, dtype="<i4", compression="gzip", shuffle=True, fletcher32=True, **rows),
    "sum": dataset("sum", 8, 16, fletcher32=True, **rows),
    "lzf": dataset("lzf", 8, 16, compression="lzf", **rows),
    "scaled": dataset("scaled", 8, 16, scaleoffset=8, **rows),
    "masked": masked,
    "early": low_level(b"early", early),
}
for name, fill in files.items():
    make(name + "_old", fill)
    make(name + "_new", fill, libver="latest")
foreigners = {
    "lz4": (32004, struct.pack(">QII", 32, 32, 32) + data),
    "lz4_blocks": (32004, struct.pack(">QI", 32, 16) +
                   b"".join(struct.pack(">I", 16) + data[i:i + 16] for i in (0, 16))),
    "bits": (32008, data, 0, 3, 1, 0, 0),
    "bits_lz4": (32008, struct.pack(">QII", 32, 8192, 34) + b"\xf0\x11" + data, 0, 3, 1, 0, 2),
    "zstd": (32015, b"\x28\xb5\x2f\xfd\x20\x20" + struct.pack("<I", 32 << 3 | 1)[:3] + data, 3),
    "blosc": (32001, b"\x02\x01\x02\x01" + struct.pack("<III", 32, 32, 48) + data, 2, 2, 1, 32),
    "zlib": (1, zlib.compress(data), 6),
}
for name, (number, stored, *client) in foreigners.items():
    make(name, foreign(number, stored, *client), libver="latest")
for name, fill in {"virtual": virtual, "nested": nested, "missing": missing, "printf": printf}.items():
    make(name, fill, libver="latest")
make("external", lambda file: file.create_dataset("external", (4,), "<u2", external=[("nowhere.raw", 0, 8)]))
make("user_block", numbers, userblock_size=512)
make("paged", files["grows"], libver="latest", fs_strategy="page", fs_page_size=512)
