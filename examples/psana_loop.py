#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Raw data of LCLS, which only psana reads, to a cube: run it where psana2 is, with the module on PYTHONPATH.
  psana_loop.py EXPERIMENT RUN cube.h5
Names of detectors and event codes are those of one hutch: look yours up with `detnames exp=...,run=...`."""
import sys

import numpy as np
import sextant

ON, OFF, NO_XRAY = 90, 91, 162  # event codes; verify them, labels have been swapped


def reduce(events, detector, monitor, stage, codes):
    """events: of a run; the others: functions of an event, or None where it has no value."""
    reducer = None
    for event in events:
        frame, i0, delay, seen = detector(event), monitor(event), stage(event), codes(event)
        if frame is None or i0 is None or delay is None or seen is None or seen[NO_XRAY]:
            continue
        if reducer is None:
            reducer = sextant.Reducer(frame.shape, edges=np.arange(-1, 10, 0.1))
        reducer.add(np.ascontiguousarray(frame), i0, delay, on=seen[ON] > 0)
    return reducer


def main(experiment, number, output):
    import psana

    run = next(psana.DataSource(exp=experiment, run=int(number)).runs())
    image, ipm, lxt, timing = (run.Detector(name) for name in ("jungfrau", "ipm2", "lxt", "timing"))
    reducer = reduce(run.events(), image.raw.calib, ipm.fex.sum, lambda event: 1e12 * lxt(event),
                     timing.raw.eventcodes)
    reducer.save(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
