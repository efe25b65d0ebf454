/* SPDX-License-Identifier: Apache-2.0
 * Sums over even delays x_i = i dx with weights 1.
 *
 * With q = exp(s dx) the sums of y are a polynomial P(q) = sum y_i q^i and its derivatives. Dividing
 * it by (t - q)(t - conj q) = t^2 - 2 Re q t + |q|^2 needs two real products a sample and leaves
 * P(q) (Goertzel 1958); dividing the quotient again leaves P'(q), and again P''(q). The sums without
 * y are geometric, and closed. */
#ifndef SXI_DCOS_EVEN_KERN_H
#define SXI_DCOS_EVEN_KERN_H

#include "kern/dcos_solve.kern.h"
#include "kern/dcos_wave.kern.h"

/* What is left of the three divisions of one mode: coefficients 0 and 1 of the first, 2 and 3 of the
 * second, 4 and 5 of the third. */
typedef double sxi_dcos_remainder[6][SXI_BUNDLE];

/* A mode of a group of lanes. */
typedef struct SX_CHAIN {
    int mode, lane;
} SX_CHAIN;

/* 2 Re q and |q|^2, what the divisions take. */
SX_FN void sx_divide_factors(const int modes, double dx, const sxi_dcos_bundle *bundle, int lane,
                             double (*middle)[SXI_BUNDLE], double (*square)[SXI_BUNDLE]) {
    for (int k = 0; k < modes; k++) {
        const SX_COMPLEX q = sx_mode_at(SX_LOAD(&bundle->theta[2 * k][lane]),
                                        SX_LOAD(&bundle->theta[2 * k + 1][lane]), dx);
        SX_STORE(&middle[k][lane], SX_SET(2.0) * q.r);
        SX_STORE(&square[k][lane], SX_FMA(q.r, q.r, q.i * q.i));
    }
}

/* P, q P', q P' + q^2 P'' from the remainders: sums of y_i i^m q^i. */
SX_FN void sx_remainder_sums(double (*rest)[SXI_BUNDLE], SX_COMPLEX q, int lane,
                             SX_COMPLEX power[3]) {
    SX_COMPLEX quotient[3]; /* value at q of the polynomial left by each division, conj root out */
    for (int m = 0; m < 3; m++) {
        const SX_REAL low = SX_LOAD(&rest[2 * m][lane]), high = SX_LOAD(&rest[2 * m + 1][lane]);
        quotient[m].r = SX_FNMA(high, q.r, low);
        quotient[m].i = high * q.i;
    }
    const SX_REAL width = SX_SET(2.0) * q.i; /* q - conj q = i width */
    /* P' = i width Q + b_1,  Q' = i width R + c_3,  P'' = 2 Q + 2 i width Q' */
    const SX_REAL b1 = SX_LOAD(&rest[1][lane]), c3 = SX_LOAD(&rest[3][lane]);
    const SX_COMPLEX first = {SX_FNMA(width, quotient[1].i, b1), width * quotient[1].r};
    const SX_COMPLEX inner = {SX_FNMA(width, quotient[2].i, c3), width * quotient[2].r};
    const SX_REAL two = SX_SET(2.0);
    const SX_COMPLEX second = {two * SX_FNMA(width, inner.i, quotient[1].r),
                               two * SX_FMA(width, inner.r, quotient[1].i)};
    power[0] = quotient[0];
    power[1] = sx_times(q, first);
    power[2] = sx_times(sx_times(q, q), second);
    power[2].r = power[2].r + power[1].r;
    power[2].i = power[2].i + power[1].i;
}

/* 1 / a */
SX_FN SX_COMPLEX sx_reciprocal(SX_COMPLEX a) {
    const SX_REAL d = SX_SET(1.0) / SX_FMA(a.r, a.r, a.i * a.i);
    SX_COMPLEX r = {a.r * d, -(a.i * d)};
    return r;
}

/* sum_{i < n} i^m q^i, m = 0, 1, 2, from q and last = q^n. */
SX_FN void sx_geometric(double n, SX_COMPLEX q, SX_COMPLEX last, SX_COMPLEX power[3]) {
    const SX_REAL one = SX_SET(1.0), all = SX_SET(n), square = SX_SET((n - 1) * (n - 1));
    const SX_COMPLEX gap = {one - q.r, -q.i}, d = sx_reciprocal(gap);
    const SX_COMPLEX rise = {one - last.r, -last.i};
    power[0] = sx_times(d, rise);
    const SX_COMPLEX shifted = sx_times(q, power[0]);
    const SX_COMPLEX a = {SX_FNMA(all, last.r, shifted.r), SX_FNMA(all, last.i, shifted.i)};
    power[1] = sx_times(d, a);
    const SX_REAL two = SX_SET(2.0);
    const SX_COMPLEX b = {SX_FNMA(square, last.r, SX_FMA(two, power[1].r, one - power[0].r)),
                          SX_FNMA(square, last.i, SX_FMA(two, power[1].i, -power[0].i))};
    power[2] = sx_times(d, b);
}

/* The same near q = 1, where those lose digits: Taylor in s of sum x^m exp(s x), |s| < 0.5, from
 * moment[m] = sum x^m. The next term is 0.5^15 / 15! = 2e-17. */
SX_FN void sx_geometric_near(const double moment[SXI_DCOS_MOMENTS], SX_COMPLEX s,
                             SX_COMPLEX power[3]) {
    for (int m = 0; m < 3; m++) {
        SX_COMPLEX sum = {SX_SET(moment[m + 14]), SX_SET(0.0)};
        for (int k = 14; k > 0; k--) {
            const SX_REAL part = SX_SET(1.0 / k);
            const SX_COMPLEX scaled = {s.r * part, s.i * part};
            sum = sx_times(sum, scaled);
            sum.r = sum.r + SX_SET(moment[m + k - 1]);
        }
        power[m] = sum;
    }
}

SX_FN void sx_put_sum(double (*sum)[2][SXI_BUNDLE], double dx, const SX_COMPLEX power[3],
                      int lane) {
    double scale = 1;
    for (int m = 0; m < 3; m++, scale *= dx) {
        SX_STORE(&sum[m][0][lane], SX_SET(scale) * power[m].r);
        SX_STORE(&sum[m][1][lane], SX_SET(scale) * power[m].i);
    }
}

/* q^1 and q^n of a mode */
typedef struct SX_RATIO {
    SX_COMPLEX step, last;
} SX_RATIO;

/* A difference of two modes may be as small as nothing. */
SX_FN void sx_even_minus(const sxi_dcos_even *grid, const SX_RATIO *j, const SX_RATIO *k,
                         SX_COMPLEX s, SX_COMPLEX power[3]) {
    const SX_MASK near = SX_LT(SX_FMA(s.r, s.r, s.i * s.i), SX_SET(0.25));
    sx_geometric((double)grid->n, sx_times_conjugate(j->step, k->step),
                 sx_times_conjugate(j->last, k->last), power);
    if (SX_ANY(near)) {
        SX_COMPLEX close[3];
        double scale = 1;
        sx_geometric_near(grid->moment, s, close);
        for (int m = 0; m < 3; m++, scale *= grid->dx) { /* in steps, as the others are */
            power[m].r = SX_SELECT(near, close[m].r * SX_SET(1 / scale), power[m].r);
            power[m].i = SX_SELECT(near, close[m].i * SX_SET(1 / scale), power[m].i);
        }
    }
}

/* Everything of a group of lanes but the divisions. */
SX_FN void sx_even_sums(const int modes, const sxi_dcos_even *grid, sxi_dcos_remainder *rest,
                        const sxi_dcos_bundle *bundle, int lane, sxi_dcos_sums *sums) {
    SX_RATIO ratio[SXI_DCOS_MOST_MODES];
    SX_COMPLEX power[3];
    const double dx = grid->dx, n = (double)grid->n;
    for (int k = 0; k < modes; k++) {
        const SX_REAL g = SX_LOAD(&bundle->theta[2 * k][lane]);
        const SX_REAL f = SX_LOAD(&bundle->theta[2 * k + 1][lane]);
        ratio[k].step = sx_mode_at(g, f, dx);
        ratio[k].last = sx_mode_at(g, f, n * dx);
        sx_remainder_sums(rest[k], ratio[k].step, lane, power);
        sx_put_sum(sums->z[k], dx, power, lane);
        sx_geometric(n, ratio[k].step, ratio[k].last, power);
        sx_put_sum(sums->one[k], dx, power, lane);
        for (int j = 0; j <= k; j++) {
            const SX_REAL gj = SX_LOAD(&bundle->theta[2 * j][lane]);
            const SX_REAL fj = SX_LOAD(&bundle->theta[2 * j + 1][lane]);
            const SX_COMPLEX apart = {-(g + gj), SX_SET(SX_TWO_PI) * (fj - f)};
            sx_geometric(n, sx_times(ratio[j].step, ratio[k].step),
                         sx_times(ratio[j].last, ratio[k].last), power);
            sx_put_sum(sums->plus[sxi_dcos_pair(j, k)], dx, power, lane);
            sx_even_minus(grid, &ratio[j], &ratio[k], apart, power);
            sx_put_sum(sums->minus[sxi_dcos_pair(j, k)], dx, power, lane);
        }
    }
}

#endif
