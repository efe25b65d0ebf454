/* SPDX-License-Identifier: Apache-2.0
 * Sums over delays of any spacing, and any weights, that all traces share.
 *
 * With y: a trace was spread, grid_j = sum_k phi((x_j - x_k) / dx) w_k y_k, phi the Kaiser-Bessel
 * kernel. By Poisson's sum the transform of that is the wanted one times the kernel's transform,
 * which is sinh(q) / q up to a factor, q^2 = sharpness^2 + (reach s)^2: an entire function, so that
 * it holds for decays as well (for imaginary s: Dutt and Rokhlin 1993; the kernel: Fessler and Sutton
 * 2003). Hence, with D(s) = q exp(sharpness - q) / sharpness,
 *
 *   Z(s) = D(s) sum_j grid_j exp(s x_j)
 *
 * Without y: a complex polynomial from a table, its value and two derivatives. */
#ifndef SXI_DCOS_SHARED_KERN_H
#define SXI_DCOS_SHARED_KERN_H

#include "kern/dcos_even.kern.h"

/* --- sums with y --- */

/* Logarithm L of D(s) exp(s first), less what D exp needs of it: D exp itself, L' and L''. */
typedef struct SX_SPREAD {
    SX_COMPLEX factor, slope, bend;
} SX_SPREAD;

SX_FN SX_SPREAD sx_spread_at(const sxi_dcos_shared *shared, SX_REAL g, SX_REAL f) {
    const SX_REAL half = SX_SET(0.5), one = SX_SET(1.0), sharp = SX_SET(shared->sharpness);
    const SX_REAL reach = SX_SET(shared->reach * shared->reach), first = SX_SET(shared->first);
    const SX_COMPLEX s = {-g, SX_SET(SX_TWO_PI) * f}, square = sx_times(s, s);
    const SX_COMPLEX under = {SX_FMA(reach, square.r, sharp * sharp), reach * square.i};
    /* In the band the real part of what is under the root is positive. */
    const SX_REAL size = SX_SQRT(SX_FMA(under.r, under.r, under.i * under.i));
    const SX_REAL real = SX_SQRT(half * (size + under.r));
    const SX_COMPLEX q = {real, half * under.i / real}, inverse = sx_reciprocal(q);
    const SX_COMPLEX scaled = {reach * s.r, reach * s.i}, rise = sx_times(scaled, inverse); /* q' */
    const SX_COMPLEX rise2 = sx_times(rise, rise), less = {inverse.r - one, inverse.i};
    const SX_COMPLEX curved = {reach - rise2.r, -rise2.i};
    const SX_COMPLEX curve = sx_times(curved, inverse); /* q'' */
    const SX_COMPLEX slope = sx_times(rise, less), a = sx_times(curve, less);
    const SX_COMPLEX b = sx_times(rise2, sx_times(inverse, inverse));
    const SX_REAL e = sx_exp(SX_FMA(s.r, first, sharp - q.r)) * SX_SET(1 / shared->sharpness);
    const SX_COMPLEX turn = sx_turn(SX_SET(0.31830988618379067154) * SX_FMA(s.i, first, -q.i));
    SX_SPREAD spread = {sx_times(q, turn), {slope.r + first, slope.i}, {a.r - b.r, a.i - b.i}};
    spread.factor.r = spread.factor.r * e;
    spread.factor.i = spread.factor.i * e;
    return spread;
}

/* From sums of grid_j j^m q^j to those of w y x^m z. */
SX_FN void sx_spread_sums(const sxi_dcos_shared *shared, const SX_SPREAD *spread,
                          SX_COMPLEX power[3]) {
    const SX_REAL dx = SX_SET(shared->dx), two = SX_SET(2.0);
    const SX_COMPLEX slope = spread->slope, slope2 = sx_times(slope, slope);
    const SX_COMPLEX bend = {spread->bend.r + slope2.r, spread->bend.i + slope2.i};
    const SX_COMPLEX first = {dx * power[1].r, dx * power[1].i};
    const SX_COMPLEX second = {dx * dx * power[2].r, dx * dx * power[2].i};
    const SX_COMPLEX lifted = sx_times(slope, power[0]), cross = sx_times(slope, first);
    const SX_COMPLEX square = sx_times(bend, power[0]);
    const SX_COMPLEX a = {first.r + lifted.r, first.i + lifted.i};
    const SX_COMPLEX b = {second.r + SX_FMA(two, cross.r, square.r),
                          second.i + SX_FMA(two, cross.i, square.i)};
    power[0] = sx_times(spread->factor, power[0]);
    power[1] = sx_times(spread->factor, a);
    power[2] = sx_times(spread->factor, b);
}

/* --- sums without y --- */

/* Where in the table a group of lanes looks: its rows, and how far from their points. */
typedef struct SX_CELL {
    const double *row[SX_LANES];
    SX_REAL dr, di, middle;
} SX_CELL;

/* f >= 0. What lies outside the table, NaN included, takes some row of it. */
SX_FN void sx_cell_find(const sxi_dcos_shared *shared, SX_REAL g, SX_REAL f, SX_CELL *cell) {
    const SX_REAL zero = SX_SET(0.0);
    const sxi_dcos_level *level = shared->level;
    SX_REAL decay = SX_SET(level->decay), step = SX_SET(level->step);
    SX_REAL per_step = SX_SET(level->per_step), middle = SX_SET(level->middle);
    SX_REAL first = SX_SET(level->first), last = SX_SET(level->last);
    for (int l = 1; l < shared->levels; l++) {
        level = shared->level + l;
        const SX_MASK above = SX_LE(SX_SET(level->edge), g);
        if (!SX_ANY(above)) {
            break;
        }
        decay = SX_SELECT(above, SX_SET(level->decay), decay);
        step = SX_SELECT(above, SX_SET(level->step), step);
        per_step = SX_SELECT(above, SX_SET(level->per_step), per_step);
        middle = SX_SELECT(above, SX_SET(level->middle), middle);
        first = SX_SELECT(above, SX_SET(level->first), first);
        last = SX_SELECT(above, SX_SET(level->last), last);
    }
    SX_REAL point = sx_round(f * per_step);
    point = SX_SELECT(SX_LE(zero, point), point, zero);
    point = SX_SELECT(SX_LT(point, last - first), point, last - first);
    cell->dr = decay - g;
    cell->di = SX_SET(SX_TWO_PI) * SX_FNMA(point, step, f);
    cell->middle = middle;
    double number[SX_LANES];
    SX_STORE(number, first + point);
    for (int l = 0; l < SX_LANES; l++) {
        cell->row[l] = shared->rows + (int64_t)number[l] * SXI_DCOS_ROW;
    }
}

/* a b + c */
SX_FN SX_COMPLEX sx_times_add(SX_COMPLEX a, SX_COMPLEX b, SX_COMPLEX c) {
    SX_COMPLEX p = {SX_FNMA(a.i, b.i, SX_FMA(a.r, b.r, c.r)),
                    SX_FMA(a.r, b.i, SX_FMA(a.i, b.r, c.i))};
    return p;
}

SX_FN void sx_cell_columns(const SX_CELL *cell, int column, SX_REAL c[4]) {
    const double *row[SX_LANES];
    for (int l = 0; l < SX_LANES; l++) {
        row[l] = cell->row[l] + column;
    }
    sx_load_rows(row, c);
}

/* Polynomial, its first and its second derivative (Horner). */
SX_FN void sx_cell_polynomial(const SX_CELL *cell, SX_COMPLEX p[3]) {
    const SX_COMPLEX zero = {SX_SET(0.0), SX_SET(0.0)}, d = {cell->dr, cell->di};
    p[0] = p[1] = p[2] = zero;
    for (int k = SXI_DCOS_TERMS - 4; k >= 0; k -= 4) {
        SX_REAL r[4], i[4];
        sx_cell_columns(cell, k, r);
        sx_cell_columns(cell, SXI_DCOS_TERMS + k, i);
        for (int c = 3; c >= 0; c--) {
            const SX_COMPLEX term = {r[c], i[c]};
            p[2] = sx_times_add(p[2], d, p[1]);
            p[1] = sx_times_add(p[1], d, p[0]);
            p[0] = sx_times_add(p[0], d, term);
        }
    }
    p[2].r = p[2].r + p[2].r;
    p[2].i = p[2].i + p[2].i;
}

/* The same where the frequency is 0, of which all is real. */
SX_FN void sx_cell_real(const SX_CELL *cell, SX_COMPLEX p[3]) {
    SX_REAL a = SX_SET(0.0), b = a, e = a;
    for (int k = SXI_DCOS_TERMS - 4; k >= 0; k -= 4) {
        SX_REAL r[4];
        sx_cell_columns(cell, k, r);
        for (int c = 3; c >= 0; c--) {
            e = SX_FMA(e, cell->dr, b);
            b = SX_FMA(b, cell->dr, a);
            a = SX_FMA(a, cell->dr, r[c]);
        }
    }
    p[0].r = a, p[1].r = b, p[2].r = e + e;
    p[0].i = p[1].i = p[2].i = SX_SET(0.0);
}

/* A decay and frequency, and exp of half its s. */
typedef struct SX_TONE {
    SX_REAL g, f;
    SX_COMPLEX half;
} SX_TONE;

/* G, G' and G'' at a tone. A function of its own: inlined, four modes would make 24 of it. */
SX_TARGET __attribute__((noinline)) static void sx_table_sums(const sxi_dcos_shared *shared,
                                                              const SX_TONE *tone, int real,
                                                              int lane,
                                                              double (*sum)[2][SXI_BUNDLE]) {
    const SX_REAL zero = SX_SET(0.0), one = SX_SET(1.0);
    const SX_MASK negative = SX_LT(tone->f, zero);
    SX_CELL cell;
    SX_COMPLEX p[3];
    sx_cell_find(shared, tone->g, SX_ABS(tone->f), &cell);
    if (real) {
        sx_cell_real(&cell, p);
    } else {
        sx_cell_polynomial(&cell, p);
    }
    const SX_REAL middle = cell.middle, square = middle * middle;
    const SX_MASK shifted = SX_LT(zero, middle);
    const SX_COMPLEX e = {SX_SELECT(shifted, tone->half.r, one),
                          SX_SELECT(shifted, tone->half.i, zero)};
    for (int m = 0; m < 3; m++) {
        p[m].i = SX_SELECT(negative, -p[m].i, p[m].i);
    }
    /* (exp(middle s) P)'' and so on */
    p[2].r = SX_FMA(square, p[0].r, SX_FMA(middle + middle, p[1].r, p[2].r));
    p[2].i = SX_FMA(square, p[0].i, SX_FMA(middle + middle, p[1].i, p[2].i));
    p[1].r = SX_FMA(middle, p[0].r, p[1].r);
    p[1].i = SX_FMA(middle, p[0].i, p[1].i);
    for (int m = 0; m < 3; m++) {
        const SX_COMPLEX value = sx_times(e, p[m]);
        SX_STORE(&sum[m][0][lane], value.r);
        SX_STORE(&sum[m][1][lane], value.i);
    }
}

/* Everything of a group of lanes but the divisions. */
SX_FN void sx_shared_sums(const int modes, const sxi_dcos_shared *shared, sxi_dcos_remainder *rest,
                          const sxi_dcos_bundle *bundle, int lane, sxi_dcos_sums *sums) {
    SX_TONE tone[SXI_DCOS_MOST_MODES];
    for (int k = 0; k < modes; k++) {
        SX_COMPLEX power[3];
        tone[k].g = SX_LOAD(&bundle->theta[2 * k][lane]);
        tone[k].f = SX_LOAD(&bundle->theta[2 * k + 1][lane]);
        tone[k].half = sx_mode_at(tone[k].g, tone[k].f, 0.5);
        sx_remainder_sums(rest[k], sx_mode_at(tone[k].g, tone[k].f, shared->dx), lane, power);
        if (shared->sharpness > 0) {
            const SX_SPREAD spread = sx_spread_at(shared, tone[k].g, tone[k].f);
            sx_spread_sums(shared, &spread, power);
            sx_put_sum(sums->z[k], 1, power, lane);
        } else {
            sx_put_sum(sums->z[k], shared->dx, power, lane);
        }
        sx_table_sums(shared, &tone[k], 0, lane, sums->one[k]);
        for (int j = 0; j <= k; j++) {
            const int pair = sxi_dcos_pair(j, k);
            const SX_REAL g = tone[j].g + tone[k].g;
            const SX_TONE plus = {g, tone[j].f + tone[k].f, sx_times(tone[j].half, tone[k].half)};
            const SX_TONE minus = {g, tone[j].f - tone[k].f,
                                   sx_times_conjugate(tone[j].half, tone[k].half)};
            sx_table_sums(shared, &plus, 0, lane, sums->plus[pair]);
            sx_table_sums(shared, &minus, j == k, lane, sums->minus[pair]);
        }
    }
}

#endif
