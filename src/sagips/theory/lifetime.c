/* SPDX-License-Identifier: Apache-2.0
 * Decay times of a particle over a flat background:
 *
 *   sigma = f exp(-t / tau) / (tau (1 - exp(-T / tau))) + (1 - f) / T,   0 <= t <= T
 *
 * Both parts are normalised, so f is the share of decays. */
#include <math.h>

#include "sagips/theory/theory.h"

enum { PARAMETERS = 2 };

static const double WINDOW = 10;

static const sx_parameter parameters[PARAMETERS] = {
    {"tau", "us", "mean lifetime", 0.2, 5, 2.197},
    {"fraction", "1", "share of decays in the events", 0, 1, 0.8},
};

static const sx_observable observables[] = {{"t", "us", 0, 10}};
static const sx_channel channels[] = {{1}};

static void density(const double *p, int channel, int64_t n, const double *t, double *sigma,
                    double *gradient) {
    (void)channel;
    const double tau = p[0], f = p[1], kept = -expm1(-WINDOW / tau);
    /* d log(1 - exp(-T / tau)) / d tau */
    const double kept_slope = -WINDOW / (tau * tau) * exp(-WINDOW / tau) / kept;
    for (int64_t i = 0; i < n; i++) {
        const double decay = exp(-t[i] / tau) / (tau * kept), flat = 1 / WINDOW;
        sigma[i] = f * decay + (1 - f) * flat;
        if (gradient) {
            gradient[i * PARAMETERS] = f * decay * (t[i] / (tau * tau) - 1 / tau - kept_slope);
            gradient[i * PARAMETERS + 1] = decay - flat;
        }
    }
}

const sx_theory sxi_theory_lifetime = {
    .name = "lifetime",
    .sentence = "an exponential decay over a flat background",
    .parameters = PARAMETERS,
    .parameter = parameters,
    .observables = 1,
    .observable = observables,
    .channels = 1,
    .channel = channels,
    .density = density,
};
