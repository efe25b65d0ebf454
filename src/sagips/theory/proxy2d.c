/* SPDX-License-Identifier: Apache-2.0
 * A density in two correlated observables:
 *
 *   sigma = x^a (1 - x)^b y^c (1 - y)^d (1 + e x y)
 *
 * Source: the second test problem of the QuantOm collaboration's public code. */
#include <math.h>

#include "sagips/theory/theory.h"

enum { PARAMETERS = 5 };

static const sx_parameter parameters[PARAMETERS] = {
    {"a", "1", "power of x", -0.5, 1, 0.505},
    {"b", "1", "power of 1 - x", 2.75, 4, 3},
    {"c", "1", "power of y", 0, 1.3, 0.299},
    {"d", "1", "power of 1 - y", 3, 4.5, 4.005},
    {"e", "1", "correlation of x and y", 0, 1.5, 0.75},
};

/* The corners, where logarithms are infinite, are not needed: there is nothing near them. */
static const sx_observable observables[] = {{"x", "1", 1e-3, 0.999}, {"y", "1", 1e-3, 0.999}};
static const sx_channel channels[] = {{2}};

static void density(const double *p, int channel, int64_t n, const double *at, double *sigma,
                    double *gradient) {
    (void)channel;
    for (int64_t i = 0; i < n; i++) {
        const double x = at[2 * i], y = at[2 * i + 1];
        const double log_x = log(x), log_1x = log1p(-x), log_y = log(y), log_1y = log1p(-y);
        const double beta = exp(p[0] * log_x + p[1] * log_1x + p[2] * log_y + p[3] * log_1y);
        const double value = beta * (1 + p[4] * x * y);
        sigma[i] = value;
        if (gradient) {
            double *g = gradient + i * PARAMETERS;
            g[0] = value * log_x;
            g[1] = value * log_1x;
            g[2] = value * log_y;
            g[3] = value * log_1y;
            g[4] = beta * x * y;
        }
    }
}

const sx_theory sxi_theory_proxy2d = {
    .name = "proxy2d",
    .sentence = "a density in two correlated observables",
    .parameters = PARAMETERS,
    .parameter = parameters,
    .observables = 2,
    .observable = observables,
    .channels = 1,
    .channel = channels,
    .density = density,
};
