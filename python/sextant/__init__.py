# SPDX-License-Identifier: Apache-2.0
"""Sextant from Python: a thin layer over the C library, for loops that read what only Python can read.

    reducer = sextant.Reducer(shape, edges)       # shots to a cube
    reducer.add(frame, i0, delay_ps, on)
    cube = reducer.cube()
    fit = sextant.fit(cube.signal, cube.delay, cube.sigma)

Frames are not copied. What fails raises sextant.Error with the sentence of the library."""
from ._library import Error, lib as _lib, text as _text
from .dcos import Fit, fit, states
from .reduce import Cube, Reducer

__all__ = ["Cube", "Error", "Fit", "Reducer", "fit", "states", "version"]

version = _text(_lib.sx_version())
