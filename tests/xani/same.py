#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whether two HDF5 files hold the same outside /provenance: every dataset and attribute, byte for byte."""
import sys

import h5py
import numpy as np

LINKS = ("DIMENSION_LIST", "REFERENCE_LIST")  # addresses within the file


def contents(path):
    found = {}

    def add(name, thing):
        if name.split("/")[0] == "provenance":
            return
        for key, value in thing.attrs.items():
            value = np.asarray(value)
            if key in LINKS:
                value = value.shape
            elif value.dtype == object:
                value = list(value.flat)
            else:
                value = (value.dtype.str, value.shape, value.tobytes())
            found[f"{name}@{key}"] = value
        if isinstance(thing, h5py.Dataset):
            found[name] = (thing.dtype.str, thing.shape, thing[()].tobytes())

    with h5py.File(path) as f:
        add("", f)
        f.visititems(add)
    return found


one, two = contents(sys.argv[1]), contents(sys.argv[2])
different = [name for name in sorted(one.keys() | two.keys()) if one.get(name) != two.get(name)]
if different or not one:
    sys.exit(f"{sys.argv[1]} and {sys.argv[2]} differ in {', '.join(different) or 'nothing, as they are empty'}")
