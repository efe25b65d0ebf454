/* SPDX-License-Identifier: Apache-2.0
 * The table of theories, and what follows from a density alone. */
#ifndef SXI_THEORY_H
#define SXI_THEORY_H

#include <sextant/sagips.h>

/* One of each, in its own file. */
extern const sx_theory sxi_theory_proxy1d, sxi_theory_proxy2d, sxi_theory_lifetime;

/* sxi_theory_column - the first observable of a channel. */
int sxi_theory_column(const sx_theory *theory, int channel);

/* Points and weights whose sum is the integral over the box of a channel. */
typedef struct sxi_quadrature {
    int64_t points;
    double *x;      /* [points][dimensions] */
    double *weight; /* [points] */
} sxi_quadrature;

/* sxi_quadrature_create - Gauss-Legendre, 8 points in each of 48 equal panels of an axis, or 4 in
 * each of 32 where there are two axes. SX_ERR_MEMORY. */
sx_status sxi_quadrature_create(const sx_theory *theory, int channel, sxi_quadrature *quadrature);
void sxi_quadrature_destroy(sxi_quadrature *quadrature);

/* sxi_quadrature_integral - of the density of the channel it was created for; whatever comes, zero
 * and NaN, too.
 * out  slope  [P] its derivatives by p; NULL allowed */
void sxi_quadrature_integral(const sx_theory *theory, int channel, const double *p,
                             const sxi_quadrature *quadrature, double *norm, double *slope);

#endif
