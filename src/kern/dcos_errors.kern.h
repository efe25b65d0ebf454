/* SPDX-License-Identifier: Apache-2.0
 * The fit at a minimum and the covariance of all its parameters: with the Gauss-Newton matrix M of
 * the nonlinear ones, N of the linear ones and X = N^-1 (basis' slopes),
 *
 *   theta: M^-1,  mixed: -X M^-1,  linear: N^-1 + X M^-1 X' */
#ifndef SXI_DCOS_ERRORS_KERN_H
#define SXI_DCOS_ERRORS_KERN_H

#include "kern/dcos_step.kern.h"

/* inverse[i][j], the inverse of the matrix with factor l. */
SX_FN void sx_invert(const int size, const SX_REAL *l, const SX_REAL *diagonal,
                     SX_REAL inverse[][SXI_DCOS_MOST_COLUMNS]) {
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            inverse[i][j] = SX_SET(i == j ? 1.0 : 0.0);
        }
        sx_forward(size, l, diagonal, inverse[i]);
        sx_backward(size, l, diagonal, inverse[i]);
    }
}

SX_FN void sx_put_covariance(const int modes, const SX_POINT *point,
                             SX_REAL theta[][SXI_DCOS_MOST_COLUMNS], int lane,
                             double (*out)[SXI_BUNDLE]) {
    const int columns = 1 + 2 * modes, slopes = 2 * modes;
    SX_REAL linear[SXI_DCOS_MOST_COLUMNS][SXI_DCOS_MOST_COLUMNS];
    SX_REAL x[SXI_DCOS_MOST_THETA][SXI_DCOS_MOST_COLUMNS];
    SX_REAL mixed[SXI_DCOS_MOST_THETA][SXI_DCOS_MOST_COLUMNS];
    sx_invert(columns, point->linear, point->inverse, linear);
    for (int i = 0; i < slopes; i++) {
        for (int k = 0; k < columns; k++) {
            x[i][k] = point->cross[i][k];
        }
        sx_backward(columns, point->linear, point->inverse, x[i]);
    }
    for (int i = 0; i < slopes; i++) {
        for (int k = 0; k < columns; k++) {
            SX_REAL a = SX_SET(0.0);
            for (int j = 0; j < slopes; j++) {
                a = SX_FNMA(x[j][k], theta[i][j], a);
            }
            mixed[i][k] = a;
            SX_STORE(&out[SX_AT(columns + i, k)][lane], a);
        }
        for (int j = 0; j <= i; j++) {
            SX_STORE(&out[SX_AT(columns + i, columns + j)][lane], theta[i][j]);
        }
    }
    for (int i = 0; i < columns; i++) {
        for (int k = 0; k <= i; k++) {
            SX_REAL a = linear[i][k];
            for (int j = 0; j < slopes; j++) {
                a = SX_FNMA(mixed[j][i], x[j][k], a);
            }
            SX_STORE(&out[SX_AT(i, k)][lane], a);
        }
    }
}

SX_FN void sx_errors(const int modes, const sxi_dcos_sums *sums, int lane, sxi_dcos_bundle *bundle,
                     sxi_dcos_errors *errors) {
    const int slopes = 2 * modes, columns = 1 + 2 * modes;
    SX_REAL theta[SXI_DCOS_MOST_THETA][SXI_DCOS_MOST_COLUMNS];
    SX_REAL diagonal[SXI_DCOS_MOST_THETA], decrement = SX_SET(0.0);
    SX_POINT point;
    sx_project(modes, sums, SX_LOAD(&bundle->total[lane]), SX_LOAD(&bundle->yy[lane]), lane,
               &point);
    sx_differentiate(modes, sums, lane, &point);
    SX_MASK good = sx_factorise(slopes, 1e-10, point.gauss, diagonal);
    good = SX_AND(good, point.good);
    good = SX_AND(good, SX_LT(SX_ABS(point.rss), SX_SET(1e300)));
    sx_invert(slopes, point.gauss, diagonal, theta);
    sx_put_covariance(modes, &point, theta, lane, errors->covariance);
    sx_lanes_set(&errors->singular, lane, SX_NOT(good));
    for (int i = 0; i < columns; i++) {
        SX_STORE(&bundle->coefficient[i][lane], point.coefficient[i]);
    }
    sx_forward(slopes, point.gauss, diagonal, point.downhill);
    for (int i = 0; i < slopes; i++) {
        decrement = SX_FMA(point.downhill[i], point.downhill[i], decrement);
        SX_STORE(&bundle->best[i][lane], SX_LOAD(&bundle->theta[i][lane]));
    }
    SX_STORE(&bundle->rss[lane], point.rss);
    SX_STORE(&bundle->decrement[lane], decrement);
}

#endif
