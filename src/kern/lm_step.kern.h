/* SPDX-License-Identifier: Apache-2.0
 * One step of Levenberg-Marquardt for a group of lanes, any model. docs/theory/lm.md says what is
 * done and why. */
#ifndef SXI_LM_STEP_KERN_H
#define SXI_LM_STEP_KERN_H

#include "kern/lanes_solve.kern.h"
#include "kern/lm_kernels.h"

#define SX_START_LAMBDA 1e-3
#define SX_RETRY_LAMBDA 1e-4 /* at least, after a step that failed */
#define SX_LEAST_LAMBDA 1e-15
#define SX_MOST_LAMBDA 1e12
#define SX_MOST_EVALUATIONS 120.0
/* Rounding moves the model by a few units of the floor, as in numer/lm.c. */
#define SX_FLOOR_UNITS 4.0
#define SX_EPSILON 2.220446049250313e-16
/* What a column must keep of its square beside the others: J'J squares what the Jacobian lost to
 * rounding, and below this its inverse has less than seven digits. */
#define SX_LEAST_PIVOT 1e-8

/* The best point so far in registers. */
typedef struct SX_LM_BEST {
    SX_REAL b[SXI_LM_MOST], chi2, slope[SXI_LM_MOST], matrix[SXI_LM_TRIANGLE];
    SX_REAL scale[SXI_LM_MOST];
    SX_REAL inverse[SXI_LM_MOST]; /* 1 / root of the diagonal of matrix */
    SX_REAL floor, blur;          /* square of the floor; by what rounding may change chi2 */
    SX_MASK frozen[SXI_LM_MOST];  /* at a bound, with the way down outside */
} SX_LM_BEST;

SX_FN void sx_lm_load(const int p, int lane, const sxi_lm_bundle *bundle, SX_LM_BEST *best) {
    best->chi2 = SX_LOAD(&bundle->kept.chi2[lane]);
    best->floor = SX_SET(0.0);
    for (int j = 0; j < p; j++) {
        best->b[j] = SX_LOAD(&bundle->best[j][lane]);
        best->slope[j] = SX_LOAD(&bundle->kept.slope[j][lane]);
        best->scale[j] = SX_LOAD(&bundle->scale[j][lane]);
        for (int k = 0; k <= j; k++) {
            best->matrix[SX_AT(j, k)] = SX_LOAD(&bundle->kept.matrix[SX_AT(j, k)][lane]);
        }
        const SX_REAL square = best->matrix[SX_AT(j, j)];
        const SX_MASK any = SX_LT(SX_SET(0.0), square);
        best->inverse[j] = SX_SELECT(any, SX_SET(1.0) / SX_SQRT(square), SX_SET(0.0));
        best->floor = SX_FMA(square * best->b[j], best->b[j], best->floor);
    }
    best->floor = SX_SET(SX_EPSILON * SX_EPSILON) * best->floor;
    best->blur = SX_SET(SX_FLOOR_UNITS) * (SX_SQRT(best->floor * best->chi2) +
                                           SX_FMA(SX_SET(SX_EPSILON), best->chi2, best->floor));
}

SX_FN SX_MASK sx_lm_finite(const int p, int lane, const sxi_lm_bundle *bundle) {
    SX_REAL sum = SX_LOAD(&bundle->point.chi2[lane]);
    for (int j = 0; j < p; j++) {
        sum = sum + SX_LOAD(&bundle->point.matrix[SX_AT(j, j)][lane]);
    }
    return SX_LT(sum, SX_SET(1e300)); /* not where it is NaN */
}

/* Keeps the point at b. Scales only grow, as in numer/lm.c. */
SX_FN void sx_lm_accept(const int p, SX_MASK fresh, SX_MASK better, int lane,
                        sxi_lm_bundle *bundle) {
    sx_keep(better, SX_LOAD(&bundle->point.chi2[lane]), &bundle->kept.chi2[lane]);
    for (int j = 0; j < p; j++) {
        sx_keep(better, SX_LOAD(&bundle->b[j][lane]), &bundle->best[j][lane]);
        sx_keep(better, SX_LOAD(&bundle->point.slope[j][lane]), &bundle->kept.slope[j][lane]);
        const SX_REAL square = SX_LOAD(&bundle->point.matrix[SX_AT(j, j)][lane]);
        const SX_REAL grown = sx_larger(square, SX_LOAD(&bundle->scale[j][lane]));
        sx_keep(better, SX_SELECT(fresh, square, grown), &bundle->scale[j][lane]);
    }
    for (int j = 0; j < p * (p + 1) / 2; j++) {
        sx_keep(better, SX_LOAD(&bundle->point.matrix[j][lane]), &bundle->kept.matrix[j][lane]);
    }
}

/* Damping from how the gain compares with what was expected, after Nielsen 1999: a smooth function
 * of the ratio, so that it settles where the model bends. Left alone where rounding hides the gain.
 */
SX_FN SX_REAL sx_lm_damp(SX_MASK fresh, SX_MASK better, SX_REAL gain, SX_REAL blur, SX_MASK running,
                         int lane, sxi_lm_bundle *bundle) {
    const SX_REAL last = SX_LOAD(&bundle->lambda[lane]), one = SX_SET(1.0);
    const SX_REAL expected = SX_LOAD(&bundle->expected[lane]);
    const SX_REAL u = SX_SET(2.0) * gain / expected - one;
    const SX_REAL factor = sx_clamp(SX_FNMA(u * u, u, one), SX_SET(0.05), SX_SET(4.0));
    SX_REAL next = SX_SELECT(SX_LE(expected, blur), last, factor * last);
    next = sx_larger(next, SX_SET(SX_LEAST_LAMBDA));
    const SX_REAL up = sx_larger(SX_SET(10.0) * last, SX_SET(SX_RETRY_LAMBDA));
    next = SX_SELECT(fresh, SX_SET(SX_START_LAMBDA), SX_SELECT(better, next, up));
    sx_keep(running, next, &bundle->lambda[lane]);
    return next;
}

SX_FN void sx_lm_freeze(const int p, const sxi_lm_box *box, SX_LM_BEST *best) {
    const SX_REAL zero = SX_SET(0.0);
    for (int j = 0; j < p; j++) {
        best->frozen[j] =
            SX_OR(SX_AND(SX_LE(best->b[j], SX_SET(box->lower[j])), SX_LE(zero, best->slope[j])),
                  SX_AND(SX_LE(SX_SET(box->upper[j]), best->b[j]), SX_LE(best->slope[j], zero)));
    }
}

/* The step of (J'J + lambda D^2) s = - J'r, solved with unit diagonal so that units do not matter.
 * Returns what it would take off chi2 at lambda 0, the square of its length in parts of J. */
SX_FN SX_REAL sx_lm_solve(const int p, const SX_LM_BEST *best, SX_REAL lambda, double least,
                          SX_MASK *good, SX_REAL *step) {
    SX_REAL l[SXI_LM_TRIANGLE], inverse[SXI_LM_MOST], decrement = SX_SET(0.0);
    const SX_REAL zero = SX_SET(0.0), one = SX_SET(1.0);
    for (int j = 0; j < p; j++) {
        const SX_REAL ij = best->inverse[j];
        for (int k = 0; k < j; k++) {
            const SX_MASK off = SX_OR(best->frozen[j], best->frozen[k]);
            l[SX_AT(j, k)] =
                SX_SELECT(off, zero, best->matrix[SX_AT(j, k)] * ij * best->inverse[k]);
        }
        l[SX_AT(j, j)] = SX_FMA(lambda * best->scale[j] * ij, ij, one);
        step[j] = SX_SELECT(best->frozen[j], zero, -best->slope[j] * ij);
    }
    *good = sx_factorise(p, least, l, inverse);
    sx_forward(p, l, inverse, step);
    for (int j = 0; j < p; j++) {
        decrement = SX_FMA(step[j], step[j], decrement);
    }
    sx_backward(p, l, inverse, step);
    for (int j = 0; j < p; j++) {
        step[j] = step[j] * best->inverse[j];
        *good = SX_AND(*good, SX_OR(best->frozen[j], SX_LT(zero, best->inverse[j])));
    }
    return decrement;
}

/* b = best + step, no longer than the parameters are or the data, inside the box. */
SX_FN void sx_lm_move(const int p, const sxi_lm_box *box, const SX_LM_BEST *best, SX_MASK running,
                      int lane, SX_REAL *step, sxi_lm_bundle *bundle) {
    SX_REAL extent = best->chi2, length = SX_SET(0.0), own = SX_SET(0.0);
    for (int j = 0; j < p; j++) {
        own = SX_FMA(best->scale[j] * best->b[j], best->b[j], own);
        length = SX_FMA(best->scale[j] * step[j], step[j], length);
    }
    extent = sx_larger(extent, own);
    const SX_REAL part = SX_SELECT(SX_LT(extent, length), SX_SQRT(extent / length), SX_SET(1.0));
    for (int j = 0; j < p; j++) {
        const SX_REAL to = sx_clamp(SX_FMA(part, step[j], best->b[j]), SX_SET(box->lower[j]),
                                    SX_SET(box->upper[j]));
        step[j] = to - best->b[j];
        sx_keep(running, to, &bundle->b[j][lane]);
    }
}

/* What chi2 loses along a step if the model is linear. */
SX_FN SX_REAL sx_lm_expect(const int p, const SX_LM_BEST *best, const SX_REAL *step) {
    SX_REAL sum = SX_SET(0.0);
    for (int j = 0; j < p; j++) {
        SX_REAL row = SX_SET(2.0) * best->slope[j];
        row = SX_FMA(best->matrix[SX_AT(j, j)], step[j], row);
        for (int k = 0; k < j; k++) {
            row = SX_FMA(SX_SET(2.0) * best->matrix[SX_AT(j, k)], step[k], row);
        }
        sum = SX_FNMA(row, step[j], sum);
    }
    return sum;
}

/* Which lanes are done, and how. */
SX_FN SX_MASK sx_lm_stop(const sxi_lm_box *box, const SX_LM_BEST *best, SX_REAL decrement,
                         SX_REAL lambda, SX_MASK lost, SX_MASK defined, SX_MASK running, int lane,
                         sxi_lm_bundle *bundle) {
    const SX_REAL freedom = SX_LOAD(&bundle->freedom[lane]);
    const SX_REAL enough = SX_SET(box->tolerance * box->tolerance) * best->chi2;
    const SX_REAL evaluations = SX_LOAD(&bundle->evaluations[lane]) + SX_SET(1.0);
    const SX_MASK near = SX_LT(decrement * freedom, enough); /* not if there is no residual */
    const SX_REAL units = SX_SET(SX_FLOOR_UNITS * SX_FLOOR_UNITS);
    SX_MASK stuck = SX_OR(SX_LE(decrement, units * best->floor), lost);
    stuck = SX_OR(stuck, SX_LT(SX_SET(SX_MOST_LAMBDA), lambda));
    stuck = SX_OR(stuck, SX_LE(SX_SET(SX_MOST_EVALUATIONS), evaluations));
    const SX_MASK failed = SX_OR(SX_AND(near, SX_NOT(defined)), SX_AND(SX_NOT(near), stuck));
    sx_keep(running, evaluations, &bundle->evaluations[lane]);
    sx_lanes_set(&bundle->failed, lane,
                 sx_mask_select(running, failed, sx_lanes_of(bundle->failed, lane)));
    const SX_MASK still = SX_AND(running, SX_NOT(SX_OR(near, stuck)));
    sx_lanes_set(&bundle->running, lane, still);
    return still;
}

SX_FN void sx_lm_step(const int p, const sxi_lm_box *box, int lane, sxi_lm_bundle *bundle) {
    const SX_MASK fresh = sx_lanes_of(bundle->fresh, lane);
    const SX_MASK running = sx_lanes_of(bundle->running, lane);
    SX_LM_BEST best;
    SX_REAL last[SXI_LM_MOST], step[SXI_LM_MOST];
    SX_MASK defined, ignored;
    sx_lm_load(p, lane, bundle, &best);
    const SX_REAL chi2 = SX_LOAD(&bundle->point.chi2[lane]);
    const SX_MASK finite = SX_AND(running, sx_lm_finite(p, lane, bundle));
    const SX_MASK lower = SX_LE(chi2, best.chi2 + best.blur);
    const SX_MASK better = SX_AND(finite, SX_OR(fresh, lower));
    const SX_REAL lambda =
        sx_lm_damp(fresh, better, best.chi2 - chi2, best.blur, running, lane, bundle);
    sx_lm_accept(p, fresh, better, lane, bundle);

    sx_lm_load(p, lane, bundle, &best);
    sx_lm_freeze(p, box, &best);
    const SX_REAL decrement = sx_lm_solve(p, &best, SX_SET(0.0), SX_LEAST_PIVOT, &defined, last);
    sx_lm_solve(p, &best, lambda, 0, &ignored, step);
    const SX_MASK still = sx_lm_stop(box, &best, decrement, lambda, SX_AND(fresh, SX_NOT(better)),
                                     defined, running, lane, bundle);
    for (int j = 0; j < p; j++) { /* what is done takes the last step without damping */
        step[j] = SX_SELECT(still, step[j], last[j]);
    }
    sx_lm_move(p, box, &best, running, lane, step, bundle);
    sx_keep(running, sx_lm_expect(p, &best, step), &bundle->expected[lane]);
}

#endif
