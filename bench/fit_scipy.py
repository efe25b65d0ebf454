#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Fits through SciPy and lmfit on command, for bench_fit, which measures in rotation.

Lines of the input, each answered by one line:

  load FOLDER SAMPLES TRACES MODES SIGMA   reads t, y, sigma (if SIGMA is 1) and start from FOLDER, doubles
  have METHOD                              1 if this Python can
  run METHOD COUNT                         fits the first traces, writes their parameters to FOLDER/result;
                                           answers the processor time of the fits in seconds

Parameters: offset, then amplitude, decay, frequency, phase of each mode. Tolerances are those of the libraries.
"""
import sys
import time
import warnings

import numpy as np
from scipy.optimize import OptimizeWarning, curve_fit

try:
    import lmfit
except ImportError:
    lmfit = None

TWO_PI = 2 * np.pi


def model(t, *p):
    y = np.full_like(t, p[0])
    for amplitude, decay, frequency, phase in zip(*[iter(p[1:])] * 4):
        y += amplitude * np.exp(-decay * t) * np.cos(TWO_PI * frequency * t + phase)
    return y


def jacobian(t, *p):
    j = np.empty((t.size, len(p)))
    j[:, 0] = 1
    for k in range(1, len(p), 4):
        amplitude, decay, frequency, phase = p[k : k + 4]
        envelope, angle = np.exp(-decay * t), TWO_PI * frequency * t + phase
        u, v = envelope * np.cos(angle), amplitude * envelope * np.sin(angle)
        j[:, k] = u
        j[:, k + 1] = -amplitude * t * u
        j[:, k + 2] = -TWO_PI * t * v
        j[:, k + 3] = -v
    return j


def scipy_fit(jac):
    def fit(t, y, sigma, start):
        return curve_fit(model, t, y, start, sigma, absolute_sigma=sigma is not None, method="lm", jac=jac)[0]

    return fit


def one_mode(t, c, a, g, f, p):
    return c + a * np.exp(-g * t) * np.cos(TWO_PI * f * t + p)


def lmfit_model(t, y, sigma, start):
    weights = None if sigma is None else 1 / sigma
    return list(MODEL.fit(y, t=t, weights=weights, **dict(zip("cagfp", start))).best_values.values())


def lmfit_minimize(t, y, sigma, start):
    weights = 1 if sigma is None else 1 / sigma
    parameters = lmfit.Parameters()
    for k, value in enumerate(start):
        parameters.add(f"p{k}", value)
    residual = lambda p: (model(t, *p.valuesdict().values()) - y) * weights
    return list(lmfit.minimize(residual, parameters).params.valuesdict().values())


METHODS = {"scipy_jacobian": scipy_fit(jacobian), "scipy_numeric": scipy_fit(None)}
if lmfit:
    MODEL = lmfit.Model(one_mode)
    METHODS |= {"lmfit_model": lmfit_model, "lmfit_minimize": lmfit_minimize}


class Data:
    def __init__(self, folder, samples, traces, modes, sigma):
        read = lambda name, width: np.fromfile(f"{folder}/{name}").reshape(-1, width)
        self.folder = folder
        self.t = read("t", int(samples))[0]
        self.y = read("y", int(samples))
        self.sigma = read("sigma", int(samples)) if int(sigma) else None
        self.start = read("start", 1 + 4 * int(modes))
        assert len(self.y) == len(self.start) == int(traces)

    def run(self, method, count):
        fit, result = METHODS[method], np.full((int(count), self.start.shape[1]), np.nan)
        begin = time.process_time()
        for i in range(int(count)):
            try:
                result[i] = fit(self.t, self.y[i], None if self.sigma is None else self.sigma[i], self.start[i])
            except RuntimeError:  # gave up
                pass
        seconds = time.process_time() - begin
        result.tofile(f"{self.folder}/result")
        return seconds


def main():
    warnings.simplefilter("ignore", OptimizeWarning)  # no covariance
    np.seterr(all="ignore")
    data = None
    for line in sys.stdin:
        command, *words = line.split()
        answer = 1
        if command == "load":
            data = Data(*words)
        elif command == "have":
            answer = int(words[0] in METHODS)
        else:
            answer = data.run(*words)
        print(answer, flush=True)


if __name__ == "__main__":
    main()
