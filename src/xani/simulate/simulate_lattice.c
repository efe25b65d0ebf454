/* SPDX-License-Identifier: Apache-2.0
 * Phonons of the square lattice of docs/theory/simulate.md. */
#include "xani/simulate/simulate.h"

#include <math.h>

#define PI 3.14159265358979323846

/* Second springs half as stiff as the first: the transverse branch then ends at 0.58 of the
 * longitudinal one, as in many cubic crystals. */
static const double SPRING_RATIO = 0.5;
static const double SOFTENING = 0.06;

sxi_lattice sxi_lattice_create(double frequency_max) {
    /* The longitudinal mode at (1/2, 0) is the highest: omega^2 = 4 (k1 + k2). */
    double omega = 2 * PI * frequency_max;
    double k1 = omega * omega / (4 * (1 + SPRING_RATIO));
    return (sxi_lattice){.k1 = k1, .k2 = SPRING_RATIO * k1, .softening = SOFTENING};
}

void sxi_lattice_branches(const sxi_lattice *lattice, double h, double k,
                          sxi_branch branch[SXI_BRANCHES]) {
    double k1 = lattice->k1, k2 = lattice->k2;
    double sh = sin(PI * h), sk = sin(PI * k);
    /* 1 - cos x is written 2 sin^2(x / 2), which keeps its digits near the Bragg peak. */
    double second = 2 * k2 * (2 * sh * sh + 2 * sk * sk * cos(2 * PI * h));
    double xx = 4 * k1 * sh * sh + second;
    double yy = 4 * k1 * sk * sk + second;
    double xy = 2 * k2 * sin(2 * PI * h) * sin(2 * PI * k);

    double mean = 0.5 * (xx + yy);
    double split = hypot(0.5 * (xx - yy), xy);
    double upper = mean + split;
    /* The lower root from the product of both; their difference would cancel. */
    double lower = upper > 0 ? (xx * yy - xy * xy) / upper : 0;
    double angle = 0.5 * atan2(xy, 0.5 * (xx - yy));
    branch[0] = (sxi_branch){sqrt(fmax(lower, 0)), {-sin(angle), cos(angle)}};
    branch[1] = (sxi_branch){sqrt(upper), {cos(angle), sin(angle)}};
}
