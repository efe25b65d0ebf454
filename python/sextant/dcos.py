# SPDX-License-Identifier: Apache-2.0
"""Damped cosines in every trace: sextant/dcos.h."""
import itertools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ._library import check, ffi, lib, text

_BACKGROUNDS = {"constant": "CONSTANT", "none": "NONE", "linear": "LINEAR", "exp": "EXP"}
_BATCH = 1024  # traces that a thread takes at a time

#: Word of each number in Fit.state.
states = dict(itertools.takewhile(lambda pair: pair[1], ((i, text(lib.sx_dcos_state_word(i))) for i in range(256))))


def _dtype(name):
    """The NumPy type of a C struct, from its declaration."""
    kinds = {"double": "f8", "int32_t": "i4", "uint16_t": "u2", "uint8_t": "u1"}

    def of(kind):
        if kind.kind == "array":
            return np.dtype((of(kind.item), (kind.length,)))
        if kind.kind == "struct":
            return np.dtype({"names": [n for n, _ in kind.fields], "formats": [of(f.type) for _, f in kind.fields],
                             "offsets": [f.offset for _, f in kind.fields], "itemsize": ffi.sizeof(kind)})
        return np.dtype(kinds[kind.cname])
    return of(ffi.typeof(name))


_fit = _dtype("sx_dcos_fit")


class Fit:
    """Maps as in fit.h5: frequency (THz where delays are ps), amplitude, decay, phase [K, pixels], offset, chi2, modes, state
    and the rest [pixels], NAME_errors of each: 1 sigma. NaN: not determined. Only state 0 may be used without a second
    look; sextant.states has their words."""

    def __init__(self, fits, shape, modes):
        mode = fits["mode"][:, :modes].T
        for name in ("frequency", "amplitude", "decay", "phase"):
            setattr(self, name, np.ascontiguousarray(mode[name]).reshape(modes, *shape))
            setattr(self, f"{name}_errors", np.ascontiguousarray(mode[f"{name}_error"]).reshape(modes, *shape))
        for name in fits.dtype.names[1:]:
            to = name[:-5] + "errors" if name.endswith("_error") else name
            setattr(self, to, np.ascontiguousarray(fits[name]).reshape(shape))


def _plan(delay, modes, max_modes, background, t0, t_start, sigma_scale):
    if background not in _BACKGROUNDS:
        raise ValueError(f"background is {background!r}, expected one of {', '.join(_BACKGROUNDS)}")
    if sigma_scale not in ("auto", "absolute", "residual"):
        raise ValueError(f"sigma_scale is {sigma_scale!r}, expected 'auto', 'absolute' or 'residual'")
    options = ffi.new("sx_dcos_options *")
    options.fixed_modes, options.modes = modes is not None, modes or 0
    options.max_modes = max_modes
    options.background = getattr(lib, "SX_BACKGROUND_" + _BACKGROUNDS[background])
    options.scale = getattr(lib, "SX_SCALE_" + sigma_scale.upper())
    options.t0 = t0
    if t_start is not None:
        options.has_t_start, options.t_start = True, t_start
    plan = ffi.new("sx_dcos_plan **")
    check(lib.sx_dcos_plan_create(len(delay), ffi.from_buffer("double[]", delay), options, plan))
    return ffi.gc(plan[0], lambda p: lib.sx_dcos_plan_destroy(ffi.new("sx_dcos_plan **", p)))


def _traces(values, shape, what):
    values = np.asarray(values, "f8")
    if values.shape != shape:
        raise ValueError(f"{what} of shape {values.shape} found, expected that of signal, {shape}")
    return np.ascontiguousarray(values.reshape(shape[0], -1).T)


def fit(signal, delay, sigma=None, mask=None, modes=None, max_modes=4, background="constant", t0=0, t_start=None,
        sigma_scale="auto", threads=None):
    """Fits every trace of signal [T, pixels...] on the delays [T], as sextant xani fit does, which also has the options'
    meaning. sigma: of the shape of signal; mask: of a frame, 0 is good. NaN is missing. Works on a copy in double."""
    delay = np.ascontiguousarray(delay, "f8")
    signal = np.asarray(signal)
    if delay.ndim != 1 or signal.ndim < 1 or len(signal) != len(delay):
        raise ValueError(f"signal of shape {signal.shape} and delays of shape {delay.shape} found, expected [T, ...] and "
                         "[T]")
    shape = signal.shape[1:]
    y = _traces(signal, signal.shape, "a signal")
    errors = None if sigma is None else _traces(sigma, signal.shape, "sigma")
    if mask is not None:
        if np.shape(mask) != shape:
            raise ValueError(f"a mask of shape {np.shape(mask)} found, expected that of a frame, {shape}")
        y[np.asarray(mask).reshape(-1) != 0] = np.nan
    plan = _plan(delay, modes, max_modes, background, t0, t_start, sigma_scale)
    fits = np.zeros(len(y), _fit)

    def run(first):
        rows = slice(first, first + _BATCH)
        check(lib.sx_dcos_fit_tile(plan, len(y[rows]), ffi.from_buffer("double[]", y[rows]),
                                   ffi.NULL if errors is None else ffi.from_buffer("double[]", errors[rows]), ffi.NULL,
                                   ffi.NULL, ffi.from_buffer("sx_dcos_fit[]", fits[rows])))

    pool = ThreadPoolExecutor(threads or len(os.sched_getaffinity(0)))
    try:
        for _ in pool.map(run, range(0, len(y), _BATCH)):
            pass
    finally:
        pool.shutdown(cancel_futures=True)
    return Fit(fits, shape, max(1, max_modes if modes is None else modes))
