# SPDX-License-Identifier: Apache-2.0
"""Shots of a pump-probe run to a cube: sextant/reduce.h."""
import numpy as np

from ._library import as_numpy, check, ffi, lib, text, view

_shot = np.dtype({"names": ["i0", "delay_ps", "on"], "formats": ["f8", "f8", "?"],
                  "offsets": [ffi.offsetof("sx_shot", name) for name in ("i0", "delay_ps", "on")],
                  "itemsize": ffi.sizeof("sx_shot")})


class Cube:
    """signal, sigma [bins, frame] relative change on / off - 1; delay [bins] ps; count [bins] laser-on shots; off_mean,
    off_error, mask [frame] (0 is good); i0_offset that was used. NaN: not known."""

    _arrays = ("signal", "sigma", "delay", "count", "off_mean", "off_error", "mask")

    def __init__(self, made):
        for name in self._arrays:
            setattr(self, name, as_numpy(getattr(made, name), made))
        self.i0_offset = made.i0_offset


class Reducer:
    """Keeps sums of shots: its memory does not grow with their number, and the order of shots changes no bit.

    shape   of a frame
    edges   [bins + 1] of the delay, ps, increasing
    mask    of that shape, 0 is good; None: all are
    off     "pooled": all laser-off shots make one image; "binned": add() gives each the delay of a laser-on shot near it
    scale, i0_scale   size of a typical pixel value and of I0, powers of two, where sums would overflow
    threads at most so many; None: all cores"""

    def __init__(self, shape, edges, mask=None, off="pooled", scale=0, i0_scale=0, threads=None):
        if off not in ("pooled", "binned"):
            raise ValueError(f"off is {off!r}, expected 'pooled' or 'binned'")
        shape = tuple(shape)
        edges = np.ascontiguousarray(edges, "f8")
        options = ffi.new("sx_reducer_options *")
        options.rank = len(shape)
        options.shape[0:min(len(shape), len(options.shape))] = shape[:len(options.shape)]
        options.bins = len(edges) - 1
        held = ffi.from_buffer("double[]", edges)
        options.edges = held
        if mask is not None:
            mask = np.ascontiguousarray(np.asarray(mask) != 0, "u1")
            if mask.shape != shape:
                raise ValueError(f"a mask of shape {mask.shape} found, expected that of a frame, {shape}")
            held_mask = ffi.from_buffer("uint8_t[]", mask)
            options.mask = held_mask
        options.off = lib.SX_REDUCE_OFF_BINNED if off == "binned" else lib.SX_REDUCE_OFF_POOLED
        options.scale, options.i0_scale = scale, i0_scale
        made = ffi.new("sx_reducer **")
        check(lib.sx_reducer_create(options, made))
        self._take(made[0], threads)

    def _take(self, reducer, threads=None):
        self._reducer = ffi.gc(reducer, _destroy)
        self._context = ffi.new("sx_context *")
        self._context.threads = threads or 0

    def add(self, frame, i0, delay_ps, on):
        """Adds one shot. frame: integers or floats in C order; NaN is missing."""
        array, held = view(np.asarray(frame))
        check(lib.sx_reducer_add(self._reducer, array, i0, delay_ps, bool(on)))

    def add_many(self, frames, i0, delay_ps, on):
        """Adds frames [n, frame] with n values of the rest, on all threads."""
        frames = np.asarray(frames)
        shots = np.zeros(len(frames), _shot)
        shots["i0"], shots["delay_ps"], shots["on"] = i0, delay_ps, on
        array, held = view(frames)
        data = ffi.from_buffer("sx_shot[]", shots)
        check(lib.sx_reducer_add_many(self._reducer, array, data, self._context))

    def merge(self, other):
        """Adds the sums of another reducer of the same settings: bit for bit as if its shots had been added here."""
        check(lib.sx_reducer_merge(self._reducer, other._reducer))

    @property
    def counts(self):
        """on, off: shots in the sums; outside the edges; not_known: I0 or delay; missing: values that were NaN."""
        made = lib.sx_reducer_count(self._reducer)
        return {name: getattr(made, name) for name, _ in ffi.typeof(made).fields}

    def _options(self, i0_offset, sigma):
        if sigma not in ("pooled", "bin"):
            raise ValueError(f"sigma is {sigma!r}, expected 'pooled' or 'bin'")
        options = ffi.new("sx_cube_options *")
        options.fit_i0_offset = i0_offset == "fit"
        options.i0_offset = 0 if options.fit_i0_offset else i0_offset
        options.sigma = lib.SX_REDUCE_SIGMA_BIN if sigma == "bin" else lib.SX_REDUCE_SIGMA_POOLED
        return options

    def cube(self, i0_offset=0, sigma="pooled"):
        """The cube of the shots so far. i0_offset: what the monitor reads without beam, or "fit". sigma: the noise of a
        pixel from all bins ("pooled") or of each from itself ("bin")."""
        made = ffi.gc(ffi.new("sx_cube *"), lib.sx_cube_destroy)
        check(lib.sx_reducer_cube(self._reducer, self._options(i0_offset, sigma), made))
        return Cube(made)

    def save(self, path, overwrite=False, i0_offset=0, sigma="pooled"):
        """Writes cube.h5 with its sums, which sextant xani fit, sextant xani merge and Reducer.load take."""
        check(lib.sx_reducer_save(self._reducer, self._options(i0_offset, sigma), str(path).encode(), overwrite,
                                  self._context))

    @classmethod
    def load(cls, path, threads=None):
        """The reducer that wrote a cube.h5, to go on with."""
        made = ffi.new("sx_reducer **")
        check(lib.sx_reducer_load(str(path).encode(), ffi.NULL, made))
        self = cls.__new__(cls)
        self._take(made[0], threads)
        return self


def _destroy(reducer):
    lib.sx_reducer_destroy(ffi.new("sx_reducer **", reducer))
