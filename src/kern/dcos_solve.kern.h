/* SPDX-License-Identifier: Apache-2.0
 * From sums over samples to the best linear coefficients, the sum of squares they leave, and its
 * first and second derivatives with respect to decays and frequencies. Any number of modes.
 *
 * With b_j = a_j - i b_j the model is c + Re sum b_j z_j; a derivative with respect to g_j or f_j is
 * Re(e x z_j), e = -b_j or 2 pi i b_j. A product of two real parts, Re p Re q = Re(p q + p conj q) /
 * 2, turns every sum of products into sums `plus` and `minus`. Linear parameters are eliminated by
 * the Cholesky factor of their normal matrix (Golub and Pereyra 1973). */
#ifndef SXI_DCOS_SOLVE_KERN_H
#define SXI_DCOS_SOLVE_KERN_H

#include "kern/dcos_kernels.h"
#include "kern/lanes_solve.kern.h"

#define SX_TWO_PI 6.283185307179586476925286766559

SX_FN SX_COMPLEX sx_sum_load(const double (*sum)[2][SXI_BUNDLE], int power, int lane) {
    SX_COMPLEX c = {SX_LOAD(&sum[power][0][lane]), SX_LOAD(&sum[power][1][lane])};
    return c;
}

/* sum w x^m z_j conj(z_k) for any order of j and k */
SX_FN SX_COMPLEX sx_minus_load(const sxi_dcos_sums *sums, int j, int k, int power, int lane) {
    SX_COMPLEX c =
        sx_sum_load(sums->minus[j <= k ? sxi_dcos_pair(j, k) : sxi_dcos_pair(k, j)], power, lane);
    c.i = j <= k ? c.i : -c.i;
    return c;
}

SX_FN SX_COMPLEX sx_plus_load(const sxi_dcos_sums *sums, int j, int k, int power, int lane) {
    return sx_sum_load(sums->plus[j <= k ? sxi_dcos_pair(j, k) : sxi_dcos_pair(k, j)], power, lane);
}

/* Normal matrix of 1, u_0, v_0, u_1, ... */
SX_FN void sx_linear_matrix(const int modes, const sxi_dcos_sums *sums, SX_REAL total, int lane,
                            SX_REAL *n) {
    const SX_REAL half = SX_SET(0.5);
    n[0] = total;
    for (int k = 0; k < modes; k++) {
        const SX_COMPLEX one = sx_sum_load(sums->one[k], 0, lane);
        const int u = 1 + 2 * k, v = u + 1;
        n[SX_AT(u, 0)] = one.r;
        n[SX_AT(v, 0)] = one.i;
        for (int j = 0; j <= k; j++) {
            const SX_COMPLEX p = sx_plus_load(sums, j, k, 0, lane);
            const SX_COMPLEX m = sx_minus_load(sums, j, k, 0, lane);
            const int uj = 1 + 2 * j, vj = uj + 1;
            n[SX_AT(u, uj)] = half * (p.r + m.r);
            n[SX_AT(v, vj)] = half * (m.r - p.r);
            n[SX_AT(v, uj)] = half * (p.i - m.i); /* v_k u_j */
            if (j < k) {
                n[SX_AT(u, vj)] = half * (p.i + m.i); /* u_k v_j */
            }
        }
    }
}

/* What a point gives. */
typedef struct SX_POINT {
    SX_REAL linear[SXI_DCOS_MOST_COLUMNS * (SXI_DCOS_MOST_COLUMNS + 1) / 2]; /* factor */
    SX_REAL inverse[SXI_DCOS_MOST_COLUMNS];
    SX_REAL coefficient[SXI_DCOS_MOST_COLUMNS];
    SX_REAL rss;
    SX_REAL downhill[SXI_DCOS_MOST_THETA];
    SX_REAL gauss[SXI_DCOS_TRIANGLE]; /* Gauss-Newton matrix, linear parameters eliminated */
    SX_REAL newton[SXI_DCOS_TRIANGLE];
    SX_REAL cross[SXI_DCOS_MOST_THETA][SXI_DCOS_MOST_COLUMNS]; /* linear^-1 basis' slope */
    SX_MASK good;
} SX_POINT;

/* Coefficients and rss. */
SX_FN void sx_project(const int modes, const sxi_dcos_sums *sums, SX_REAL total, SX_REAL yy,
                      int lane, SX_POINT *point) {
    const int size = 1 + 2 * modes;
    SX_REAL *c = point->coefficient;
    sx_linear_matrix(modes, sums, total, lane, point->linear);
    /* A column that keeps less than 1e-12 of its square depends on the others. */
    point->good = sx_factorise(size, 1e-12, point->linear, point->inverse);
    c[0] = SX_SET(0.0);
    for (int j = 0; j < modes; j++) {
        const SX_COMPLEX z = sx_sum_load(sums->z[j], 0, lane);
        c[1 + 2 * j] = z.r;
        c[2 + 2 * j] = z.i;
    }
    sx_forward(size, point->linear, point->inverse, c);
    point->rss = yy;
    for (int i = 0; i < size; i++) {
        point->rss = SX_FNMA(c[i], c[i], point->rss);
    }
    sx_backward(size, point->linear, point->inverse, c);
}

/* e of the derivative with respect to decay (0) or frequency (1) of a mode. */
SX_FN SX_COMPLEX sx_slope_factor(const SX_POINT *point, int mode, int which) {
    const SX_REAL a = point->coefficient[1 + 2 * mode], b = point->coefficient[2 + 2 * mode];
    const SX_REAL t = SX_SET(SX_TWO_PI);
    SX_COMPLEX decay = {-a, b}, frequency = {t * b, t * a};
    return which ? frequency : decay;
}

/* sum w r x^m z_j of the residual r */
SX_FN SX_COMPLEX sx_residual_sum(const int modes, const sxi_dcos_sums *sums, const SX_POINT *point,
                                 int j, int power, int lane) {
    const SX_REAL half = SX_SET(0.5), c = point->coefficient[0];
    const SX_COMPLEX one = sx_sum_load(sums->one[j], power, lane);
    SX_COMPLEX r = sx_sum_load(sums->z[j], power, lane);
    r.r = SX_FNMA(c, one.r, r.r);
    r.i = SX_FNMA(c, one.i, r.i);
    for (int k = 0; k < modes; k++) {
        const SX_REAL a = half * point->coefficient[1 + 2 * k];
        const SX_REAL b = half * point->coefficient[2 + 2 * k];
        const SX_COMPLEX p = sx_plus_load(sums, j, k, power, lane);
        const SX_COMPLEX m = sx_minus_load(sums, j, k, power, lane);
        /* (a - i b) p + (a + i b) m */
        r.r = SX_FNMA(a, p.r + m.r, SX_FNMA(b, p.i - m.i, r.r));
        r.i = SX_FNMA(a, p.i + m.i, SX_FMA(b, p.r - m.r, r.i));
    }
    return r;
}

/* Slope of parameter (mode j, which) along the basis 1, u_0, v_0, ... */
SX_FN void sx_slope_columns(const int modes, const sxi_dcos_sums *sums, SX_COMPLEX e, int j,
                            int lane, SX_REAL *column) {
    const SX_REAL half = SX_SET(0.5);
    const SX_COMPLEX one = sx_sum_load(sums->one[j], 1, lane);
    column[0] = SX_FNMA(e.i, one.i, e.r * one.r);
    for (int k = 0; k < modes; k++) {
        const SX_COMPLEX p = sx_times(e, sx_plus_load(sums, j, k, 1, lane));
        const SX_COMPLEX m = sx_times(e, sx_minus_load(sums, j, k, 1, lane));
        column[1 + 2 * k] = half * (p.r + m.r);
        column[2 + 2 * k] = half * (p.i - m.i);
    }
}

/* sum w of the product of two slopes: modes j and k with factors e and h */
SX_FN SX_REAL sx_slope_product(const sxi_dcos_sums *sums, SX_COMPLEX e, SX_COMPLEX h, int j, int k,
                               int lane) {
    const SX_COMPLEX p = sx_times(sx_times(e, h), sx_plus_load(sums, j, k, 2, lane));
    const SX_COMPLEX m = sx_times(sx_times_conjugate(e, h), sx_minus_load(sums, j, k, 2, lane));
    return SX_SET(0.5) * (p.r + m.r);
}

/* Gauss-Newton matrix and what second derivatives add to it, after sx_project. */
SX_FN void sx_differentiate(const int modes, const sxi_dcos_sums *sums, int lane, SX_POINT *point) {
    const int size = 1 + 2 * modes, slopes = 2 * modes;
    const SX_REAL t = SX_SET(SX_TWO_PI);
    SX_REAL bent[SXI_DCOS_MOST_THETA][SXI_DCOS_MOST_COLUMNS]; /* cross with second derivatives */
    for (int i = 0; i < slopes; i++) {
        const int j = i / 2;
        const SX_COMPLEX e = sx_slope_factor(point, j, i % 2);
        const SX_COMPLEX r1 = sx_residual_sum(modes, sums, point, j, 1, lane);
        sx_slope_columns(modes, sums, e, j, lane, point->cross[i]);
        for (int k = 0; k < size; k++) {
            bent[i][k] = point->cross[i][k];
        }
        /* the derivative of a_j u_j + b_j v_j with respect to a_j or b_j and theta_i */
        if (i % 2 == 0) {
            bent[i][1 + 2 * j] = bent[i][1 + 2 * j] + r1.r;
            bent[i][2 + 2 * j] = bent[i][2 + 2 * j] + r1.i;
        } else {
            bent[i][1 + 2 * j] = SX_FMA(t, r1.i, bent[i][1 + 2 * j]);
            bent[i][2 + 2 * j] = SX_FNMA(t, r1.r, bent[i][2 + 2 * j]);
        }
        point->downhill[i] = SX_FNMA(e.i, r1.i, e.r * r1.r);
        sx_forward(size, point->linear, point->inverse, point->cross[i]);
        sx_forward(size, point->linear, point->inverse, bent[i]);
        for (int m = 0; m <= i; m++) {
            const SX_COMPLEX h = sx_slope_factor(point, m / 2, m % 2);
            SX_REAL gauss = sx_slope_product(sums, e, h, j, m / 2, lane), newton = gauss;
            for (int k = 0; k < size; k++) {
                gauss = SX_FNMA(point->cross[i][k], point->cross[m][k], gauss);
                newton = SX_FNMA(bent[i][k], bent[m][k], newton);
            }
            point->gauss[SX_AT(i, m)] = gauss;
            point->newton[SX_AT(i, m)] = newton;
        }
    }
    for (int j = 0; j < modes; j++) {
        const SX_COMPLEX r2 = sx_residual_sum(modes, sums, point, j, 2, lane);
        const SX_REAL a = point->coefficient[1 + 2 * j], b = point->coefficient[2 + 2 * j];
        const SX_REAL real = SX_FMA(a, r2.r, b * r2.i), imaginary = SX_FNMA(b, r2.r, a * r2.i);
        SX_REAL *n = point->newton;
        n[SX_AT(2 * j, 2 * j)] = n[SX_AT(2 * j, 2 * j)] - real;
        n[SX_AT(2 * j + 1, 2 * j)] = SX_FNMA(t, imaginary, n[SX_AT(2 * j + 1, 2 * j)]);
        n[SX_AT(2 * j + 1, 2 * j + 1)] = SX_FMA(t * t, real, n[SX_AT(2 * j + 1, 2 * j + 1)]);
    }
}

#endif
