# SPDX-License-Identifier: Apache-2.0
"""The C library: its declarations, its file, its errors, and its arrays as NumPy ones."""
import glob
import os

import cffi
import numpy as np

_here = os.path.dirname(os.path.abspath(__file__))
ffi = cffi.FFI()
with open(os.path.join(_here, "_declarations.h")) as _file:
    ffi.cdef(_file.read())


def _open():
    # Beside the module in a build folder, above it in an installed tree, else where the loader looks.
    for place in ("../..", "../../..", "../../../*"):
        for path in glob.glob(os.path.join(_here, place, "libsextant.so*")):
            return ffi.dlopen(path)
    return ffi.dlopen("libsextant.so.0")


lib = _open()


class Error(RuntimeError):
    """What the library could not do, in its own sentence; .status is its name, such as SX_ERR_SHAPE."""

    def __init__(self, status):
        super().__init__(text(lib.sx_error_message()) or text(lib.sx_status_text(status)))
        self.status = text(lib.sx_status_name(status))


def text(chars):
    return ffi.string(chars).decode(errors="replace") if chars else ""


def check(status):
    if status == lib.SX_ERR_CANCELLED:
        raise KeyboardInterrupt
    if status != lib.SX_OK:
        raise Error(status)


_names = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")
dtypes = {np.dtype(name): number for number, name in enumerate(_names)}


def view(array):
    """A NumPy array as an sx_array that borrows it; in C order, in the byte order of this machine."""
    if array.dtype not in dtypes or not array.flags.c_contiguous:
        raise TypeError(f"an array of {array.dtype}, {'C order' if array.flags.c_contiguous else 'not in C order'}, "
                        "found: integers or floats in C order are expected, see numpy.ascontiguousarray")
    made = ffi.new("sx_array *")
    shape = ffi.new("int64_t[]", array.shape)
    data = ffi.from_buffer(array) if array.size else ffi.NULL
    check(lib.sx_array_view(dtypes[array.dtype], array.ndim, shape, data, made))
    return made, data


def as_numpy(array, owner):
    """An sx_array as a NumPy one on the same memory, which keeps owner alive."""
    shape = tuple(array.shape[d] for d in range(array.rank))
    dtype = np.dtype(_names[array.dtype])
    size = int(np.prod(shape, dtype=np.int64))
    memory = ffi.gc(ffi.cast("char *", array.data), lambda _, owner=owner: None)
    return np.frombuffer(ffi.buffer(memory, size * dtype.itemsize), dtype, size).reshape(shape)
