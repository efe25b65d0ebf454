/* SPDX-License-Identifier: Apache-2.0
 * Two structure functions made of two quark densities, u and d:
 *
 *   u = p0 x^p1 (1 - x)^p2,  d = p3 x^p4 (1 - x)^p5,  sigma_1 = 4 u + d,  sigma_2 = u + 4 d
 *
 * Source: Lersch et al. 2025, Mach. Learn.: Sci. Technol. 6, 025017. */
#include <math.h>

#include "sagips/theory/theory.h"

enum { PARAMETERS = 6 };

static const sx_parameter parameters[PARAMETERS] = {
    {"p0", "1", "scale of u", 0, 3, 2.1875},     {"p1", "1", "power of x in u", -1, 1, -0.5},
    {"p2", "1", "power of 1 - x in u", 0, 5, 3}, {"p3", "1", "scale of d", 0, 3, 1.09375},
    {"p4", "1", "power of x in d", -1, 1, -0.5}, {"p5", "1", "power of 1 - x in d", 0, 5, 4},
};

static const sx_observable observables[] = {{"x1", "1", 0.1, 1}, {"x2", "1", 0.1, 1}};
static const sx_channel channels[] = {{1}, {1}};

/* log(1 - x), finite at 1: its product with a power of 0 must be 0. */
static double log_of_rest(double x) { return fmax(log1p(-x), -700); }

static void density(const double *p, int channel, int64_t n, const double *x, double *sigma,
                    double *gradient) {
    const double charge_u = channel == 0 ? 4 : 1, charge_d = channel == 0 ? 1 : 4;
    for (int64_t i = 0; i < n; i++) {
        const double log_x = log(x[i]), log_y = log_of_rest(x[i]);
        const double u = charge_u * exp(p[1] * log_x + p[2] * log_y);
        const double d = charge_d * exp(p[4] * log_x + p[5] * log_y);
        sigma[i] = p[0] * u + p[3] * d;
        if (gradient) {
            double *g = gradient + i * PARAMETERS;
            g[0] = u;
            g[1] = p[0] * u * log_x;
            g[2] = p[0] * u * log_y;
            g[3] = d;
            g[4] = p[3] * d * log_x;
            g[5] = p[3] * d * log_y;
        }
    }
}

const sx_theory sxi_theory_proxy1d = {
    .name = "proxy1d",
    .sentence = "two structure functions of two quark densities",
    .parameters = PARAMETERS,
    .parameter = parameters,
    .observables = 2,
    .observable = observables,
    .channels = 2,
    .channel = channels,
    .density = density,
};
