#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A run of European XFEL through EXtra-data, for what `sextant xani reduce` does not read, such as delays that are worked out
from several motors.
  extra_data_loop.py PROPOSAL RUN cube.h5"""
import sys

import numpy as np
import sextant


def reduce(trains, detector, monitor, delay_of):
    """trains: (number, data) as DataCollection.trains() gives them; detector and monitor: (source, key)."""
    reducer = None
    for number, data in trains:
        frames = data.get(detector[0], {}).get(detector[1])
        i0 = data.get(monitor[0], {}).get(monitor[1])
        if frames is None or i0 is None:
            continue
        if reducer is None:
            reducer = sextant.Reducer(frames.shape[1:], edges=np.arange(-1, 10, 0.1))
        n = len(frames)
        reducer.add_many(np.ascontiguousarray(frames), i0[:n], delay_of(data), on=np.arange(n) % 2 == 0)
    return reducer


def main(proposal, number, output):
    import extra_data

    run = extra_data.open_run(int(proposal), int(number))
    reducer = reduce(run.trains(), ("FXE_XAD_JF1M/DET/JNGFR01:daqOutput", "data.adc"),
                     ("SA1_XTD2_XGM/DOOCS/MAIN:output", "data.intensityTD"),
                     lambda data: data["FXE_AUXT_LIC/DOOCS/PPLASER"]["delay.value"])
    reducer.save(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
