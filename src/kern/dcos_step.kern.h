/* SPDX-License-Identifier: Apache-2.0
 * One step of Levenberg-Marquardt for a group of lanes: true second derivatives where they are
 * positive definite by a margin, else Gauss-Newton. */
#ifndef SXI_DCOS_STEP_KERN_H
#define SXI_DCOS_STEP_KERN_H

#include "kern/dcos_solve.kern.h"

#define SX_START_LAMBDA 1e-3
/* After a bad step: less would only repeat it. */
#define SX_RETRY_LAMBDA 0.25
#define SX_MOST_LAMBDA 1e8
#define SX_MOST_EVALUATIONS 60.0
/* Evaluations after which Gauss-Newton is taken to creep. */
#define SX_CREEPING 8.0
/* Evaluations after which a minimum may be foretold, and how many times more than foretold the way to
 * it may take off. */
#define SX_FORETOLD_AFTER 2.0
#define SX_FORETOLD 3.0
/* A step this short, squared, in parts of the trace: data without noise end on rounding. */
#define SX_STEP_TRACE 1e-20

/* True second derivatives where none of their pivots falls below a part of Gauss-Newton's: far from
 * a minimum they lead astray, and where noise is large Gauss-Newton creeps. */
SX_FN SX_MASK sx_choose_matrix(const int size, const SX_POINT *point, SX_REAL part,
                               SX_REAL *matrix) {
    SX_REAL gauss[SXI_DCOS_TRIANGLE], newton[SXI_DCOS_TRIANGLE];
    SX_REAL gi[SXI_DCOS_MOST_THETA], ni[SXI_DCOS_MOST_THETA];
    const int count = size * (size + 1) / 2;
    for (int i = 0; i < count; i++) {
        gauss[i] = point->gauss[i];
        newton[i] = point->newton[i];
    }
    const SX_MASK good = sx_factorise(size, 1e-10, gauss, gi);
    SX_MASK bent = sx_factorise(size, 0, newton, ni);
    for (int i = 0; i < size; i++) { /* pivot = 1 / inverse^2 */
        bent = SX_AND(bent, SX_LT(part * ni[i] * ni[i], gi[i] * gi[i]));
    }
    for (int i = 0; i < count; i++) {
        matrix[i] = SX_SELECT(bent, point->newton[i], point->gauss[i]);
    }
    return good;
}

/* Takes the trial point where it is no worse, or the first. */
SX_FN SX_MASK sx_accept(const int modes, const sxi_dcos_box *box, const SX_POINT *point,
                        SX_MASK fresh, SX_MASK running, int lane, sxi_dcos_bundle *bundle) {
    const int size = 2 * modes, columns = 1 + 2 * modes;
    SX_REAL matrix[SXI_DCOS_TRIANGLE];
    const SX_REAL yy = SX_LOAD(&bundle->yy[lane]), rss = SX_LOAD(&bundle->rss[lane]);
    const SX_REAL blind = SX_SET(box->blind) * yy;
    const SX_MASK early = SX_LT(SX_LOAD(&bundle->evaluations[lane]), SX_SET(SX_CREEPING));
    const SX_REAL part = SX_SELECT(early, SX_SET(0.1), SX_SET(1e-6));
    const SX_MASK defined = SX_AND(sx_choose_matrix(size, point, part, matrix), point->good);
    const SX_MASK lower = SX_OR(fresh, SX_LE(point->rss, rss + blind));
    const SX_MASK finite = SX_LT(SX_ABS(point->rss), SX_SET(1e300));
    const SX_MASK better = SX_AND(SX_AND(lower, finite), SX_AND(defined, running));
    for (int i = 0; i < size; i++) {
        sx_keep(better, SX_LOAD(&bundle->theta[i][lane]), &bundle->best[i][lane]);
        sx_keep(better, point->downhill[i], &bundle->downhill[i][lane]);
    }
    for (int i = 0; i < columns; i++) {
        sx_keep(better, point->coefficient[i], &bundle->coefficient[i][lane]);
    }
    for (int i = 0; i < size * (size + 1) / 2; i++) {
        sx_keep(better, matrix[i], &bundle->matrix[i][lane]);
    }
    sx_keep(better, point->rss, &bundle->rss[lane]);
    return better;
}

/* Shorter steps after a bad one, longer after a good one. */
SX_FN SX_REAL sx_next_lambda(SX_MASK fresh, SX_MASK better, SX_MASK running, int lane,
                             sxi_dcos_bundle *bundle) {
    const SX_REAL last = SX_LOAD(&bundle->lambda[lane]);
    const SX_REAL up = sx_larger(last * SX_SET(8.0), SX_SET(SX_RETRY_LAMBDA));
    SX_REAL next = SX_SELECT(better, last * SX_SET(0.02), up);
    next = SX_SELECT(fresh, SX_SET(SX_START_LAMBDA), next);
    sx_keep(running, next, &bundle->lambda[lane]);
    return next;
}

/* The step from best in a matrix with lambda of its diagonal added; what sits at its bound and
 * wants out does not move. Returns the decrement. */
SX_FN SX_REAL sx_solve_step(const int size, const SX_REAL *matrix, const SX_REAL *downhill,
                            const SX_MASK *frozen, SX_REAL lambda, SX_REAL *step) {
    SX_REAL l[SXI_DCOS_TRIANGLE], inverse[SXI_DCOS_MOST_THETA];
    const SX_REAL zero = SX_SET(0.0), one = SX_SET(1.0);
    for (int i = 0; i < size; i++) {
        for (int j = 0; j <= i; j++) {
            const SX_REAL a = matrix[SX_AT(i, j)];
            const SX_REAL off = i == j ? one : zero;
            l[SX_AT(i, j)] =
                SX_SELECT(SX_OR(frozen[i], frozen[j]), off, i == j ? SX_FMA(lambda, a, a) : a);
        }
        step[i] = SX_SELECT(frozen[i], zero, downhill[i]);
    }
    sx_factorise(size, 1e-14, l, inverse);
    sx_forward(size, l, inverse, step);
    SX_REAL decrement = zero;
    for (int i = 0; i < size; i++) {
        decrement = SX_FMA(step[i], step[i], decrement);
    }
    sx_backward(size, l, inverse, step);
    return decrement;
}

/* best + step inside the box, cut where another basin may begin: at half a cycle, or a part of the
 * width of a strongly damped mode, which is g / 2 pi cycles, and at doubling a decay. */
SX_FN void sx_move(const int size, const sxi_dcos_box *box, const SX_REAL *step, int lane,
                   SX_MASK running, sxi_dcos_bundle *bundle) {
    const SX_REAL one = SX_SET(1.0), half = SX_SET(0.5);
    SX_REAL part = one;
    for (int i = 0; i < size; i++) {
        const SX_REAL best = SX_LOAD(&bundle->best[i][lane]);
        const SX_REAL damped = SX_LOAD(&bundle->best[i - i % 2][lane]);
        const SX_REAL most =
            i % 2 ? sx_larger(half, SX_SET(0.05) * damped) : sx_larger(SX_SET(3.0), SX_ABS(best));
        const SX_REAL length = SX_ABS(step[i]);
        part = SX_SELECT(SX_LT(most, length * part), most / length, part);
    }
    for (int i = 0; i < size; i++) {
        const SX_REAL least = SX_SET(i % 2 ? box->frequency_least : box->decay_least);
        const SX_REAL most = SX_SET(i % 2 ? box->frequency_most : box->decay_most);
        const SX_REAL best = SX_LOAD(&bundle->best[i][lane]);
        sx_keep(running, sx_clamp(SX_FMA(part, step[i], best), least, most),
                &bundle->theta[i][lane]);
    }
}

SX_FN SX_MASK sx_find_frozen(const int size, const sxi_dcos_box *box, int lane,
                             const sxi_dcos_bundle *bundle, SX_REAL *downhill, SX_MASK *frozen) {
    const SX_REAL zero = SX_SET(0.0);
    SX_MASK any = SX_LT(zero, zero);
    for (int i = 0; i < size; i++) {
        const SX_REAL least = SX_SET(i % 2 ? box->frequency_least : box->decay_least);
        const SX_REAL most = SX_SET(i % 2 ? box->frequency_most : box->decay_most);
        const SX_REAL best = SX_LOAD(&bundle->best[i][lane]);
        downhill[i] = SX_LOAD(&bundle->downhill[i][lane]);
        frozen[i] = SX_OR(SX_AND(SX_LE(best, least), SX_LE(downhill[i], zero)),
                          SX_AND(SX_LE(most, best), SX_LE(zero, downhill[i])));
        any = SX_OR(any, frozen[i]);
    }
    return any;
}

SX_FN void sx_step(const int modes, const sxi_dcos_box *box, const sxi_dcos_sums *sums, int lane,
                   sxi_dcos_bundle *bundle) {
    const int size = 2 * modes;
    const SX_MASK fresh = sx_lanes_of(bundle->fresh, lane);
    const SX_MASK running = sx_lanes_of(bundle->running, lane);
    SX_REAL matrix[SXI_DCOS_TRIANGLE], downhill[SXI_DCOS_MOST_THETA], step[SXI_DCOS_MOST_THETA];
    SX_MASK frozen[SXI_DCOS_MOST_THETA];
    SX_POINT point;
    const SX_REAL yy = SX_LOAD(&bundle->yy[lane]);
    sx_project(modes, sums, SX_LOAD(&bundle->total[lane]), yy, lane, &point);
    sx_differentiate(modes, sums, lane, &point);
    const SX_MASK better = sx_accept(modes, box, &point, fresh, running, lane, bundle);
    const SX_REAL lambda = sx_next_lambda(fresh, better, running, lane, bundle);
    const SX_MASK any = sx_find_frozen(size, box, lane, bundle, downhill, frozen);
    for (int i = 0; i < size * (size + 1) / 2; i++) {
        matrix[i] = SX_LOAD(&bundle->matrix[i][lane]);
    }
    const SX_REAL decrement = sx_solve_step(size, matrix, downhill, frozen, SX_SET(0.0), step);
    sx_solve_step(size, matrix, downhill, frozen, lambda, step);
    sx_move(size, box, step, lane, running, bundle);

    const SX_REAL rss = SX_LOAD(&bundle->rss[lane]);
    const SX_REAL enough = SX_SET(box->tolerance * box->tolerance) * rss;
    SX_MASK near = SX_LE(decrement * SX_LOAD(&bundle->freedom[lane]), enough);
    near = SX_OR(near, SX_LE(decrement, SX_SET(SX_STEP_TRACE) * yy));
    const SX_REAL evaluations = SX_LOAD(&bundle->evaluations[lane]) + SX_SET(1.0);
    SX_MASK stuck = SX_OR(SX_LT(SX_SET(SX_MOST_LAMBDA), lambda),
                          SX_LE(SX_SET(SX_MOST_EVALUATIONS), evaluations));
    stuck = SX_OR(stuck, SX_AND(fresh, SX_NOT(better)));
    SX_MASK useless =
        SX_LT(SX_LOAD(&bundle->worth[lane]), SX_FNMA(SX_SET(SX_FORETOLD), decrement, rss));
    useless = SX_AND(useless, SX_LE(SX_SET(SX_FORETOLD_AFTER), evaluations));
    stuck = SX_OR(stuck, useless);
    near = SX_AND(near, SX_NOT(useless));
    stuck = SX_AND(stuck, SX_NOT(near));
    sx_keep(running, evaluations, &bundle->evaluations[lane]);
    sx_keep(running, decrement, &bundle->decrement[lane]);
    sx_lanes_set(&bundle->failed, lane,
                 sx_mask_select(running, stuck, sx_lanes_of(bundle->failed, lane)));
    sx_lanes_set(&bundle->useless, lane,
                 sx_mask_select(running, useless, sx_lanes_of(bundle->useless, lane)));
    sx_lanes_set(&bundle->frozen, lane,
                 sx_mask_select(running, any, sx_lanes_of(bundle->frozen, lane)));
    sx_lanes_set(&bundle->running, lane, SX_AND(running, SX_NOT(SX_OR(near, stuck))));
}

#endif
