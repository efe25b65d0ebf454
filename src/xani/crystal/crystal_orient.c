/* SPDX-License-Identifier: Apache-2.0
 * Where the crystal points: UB, two reflections, many peaks, the goniometer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "numer/eigen.h"
#include "numer/lattice.h"
#include "xani/crystal/crystal.h"

static const double PI = 3.14159265358979323846;

/* Lengths of a given UB against those of the cell. */
static const double SAME_CELL = 0.01;
/* Peaks picked by eye on a detector are good to about half a degree. */
static const double SAME_ANGLE = 2; /* degrees */

static void transpose(const double a[9], double t[9]) {
    for (int k = 0; k < 9; k++) {
        t[3 * (k % 3) + k / 3] = a[k];
    }
}

static void scale(double factor, double *a, int n) {
    for (int k = 0; k < n; k++) {
        a[k] *= factor;
    }
}

/* Rodrigues: about a unit vector. */
static void rotation_about(const double u[3], double degrees, double r[9]) {
    const double c = cos(degrees / 180 * PI), s = sin(degrees / 180 * PI);
    const double cross[9] = {0, -u[2], u[1], u[2], 0, -u[0], -u[1], u[0], 0};
    for (int k = 0; k < 9; k++) {
        r[k] = (1 - c) * u[k / 3] * u[k % 3] + s * cross[k] + (k % 4 == 0 ? c : 0);
    }
}

void sx_crystal_rotation(const sx_crystal *crystal, const double *angle, double r[9]) {
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(r, one, sizeof one);
    for (int k = 0; k < crystal->axes; k++) {
        const sx_crystal_axis *axis = crystal->axis + k;
        const double open = angle && axis->dataset ? angle[k] : 0;
        double turn[9], all[9];
        rotation_about(axis->direction, axis->sense * (axis->dataset ? open : axis->angle), turn);
        sxi_matrix_times(r, turn, all);
        memcpy(r, all, sizeof all);
    }
}

sx_status sx_crystal_q_matrix(const sx_crystal *crystal, const double *angle, double m[9]) {
    double r[9];
    if (!crystal->oriented) {
        return SXI_FAIL(SX_ERR_MISSING, "the crystal is not oriented; give its ub or two "
                                        "reflections (orientation in crystal.yaml)");
    }
    sx_crystal_rotation(crystal, angle, r);
    sxi_matrix_times(r, crystal->ub, m);
    scale(2 * PI, m, 9);
    return SX_OK;
}

sx_status sx_crystal_hkl_matrix(const sx_crystal *crystal, const double *angle, double m[9]) {
    double q[9];
    SXI_TRY(sx_crystal_q_matrix(crystal, angle, q));
    sxi_matrix_invert(q, m);
    return SX_OK;
}

/* The cell that a UB belongs to: its metric is that of the reciprocal cell. */
static void cell_of(const double ub[9], double cell[6]) {
    double t[9], metric[9], g[9];
    transpose(ub, t);
    sxi_matrix_times(t, ub, metric);
    sxi_matrix_invert(metric, g);
    for (int k = 0; k < 3; k++) {
        cell[k] = sqrt(g[4 * k]);
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        cell[3 + k] = acos(g[3 * i + j] / (cell[i] * cell[j])) / PI * 180;
    }
}

sx_status sx_crystal_set_ub(sx_crystal *crystal, const double ub[9]) {
    double inverse[9], u[9], cell[6];
    if (!sxi_matrix_invert(ub, inverse)) {
        return SXI_FAIL(SX_ERR_FORMAT, "ub spans no volume; expected the matrix that turns (h, k, "
                                       "l) into 1/Angstrom in the laboratory, without 2 pi");
    }
    sxi_matrix_times(ub, crystal->b_inverse, u);
    cell_of(ub, cell);
    if (sxi_determinant(ub) < 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "ub is left-handed, which no rotation is; expected the "
                                       "laboratory with z along the beam, y up, x left looking "
                                       "downstream");
    }
    double off = 0;
    for (int k = 0; k < 6; k++) {
        off = fmax(off, fabs(cell[k] / crystal->cell[k] - 1));
    }
    if (!(off < SAME_CELL)) {
        const double two_pi = cell[0] * 2 * PI / crystal->cell[0];
        return SXI_FAIL(SX_ERR_FORMAT,
                        "ub belongs to a cell %.4g %.4g %.4g %.4g %.4g %.4g, but cell is %.4g %.4g "
                        "%.4g %.4g %.4g %.4g%s",
                        cell[0], cell[1], cell[2], cell[3], cell[4], cell[5], crystal->cell[0],
                        crystal->cell[1], crystal->cell[2], crystal->cell[3], crystal->cell[4],
                        crystal->cell[5],
                        fabs(two_pi - 1) < SAME_CELL ? "; it holds 2 pi, which it must not" : "");
    }
    memcpy(crystal->ub, ub, sizeof crystal->ub);
    crystal->oriented = true;
    return SX_OK;
}

/* q / 2 pi of a peak with the goniometer turned back. */
static void turn_back(const sx_crystal *crystal, const sx_crystal_peak *peak, double x[3]) {
    double r[9];
    sx_crystal_rotation(crystal, peak->angle, r);
    sxi_vector_times(peak->q, r, x); /* a row times R is the transposed R times a column */
    scale(1 / (2 * PI), x, 3);
}

static double normalise(double v[3]) {
    const double length = sxi_norm(3, v);
    scale(1 / length, v, 3);
    return length;
}

static void cross(const double a[3], const double b[3], double c[3]) {
    for (int k = 0; k < 3; k++) {
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

/* Rows: along the first, across both, and what completes them. Returns the angle in degrees. */
static double triad(const double first[3], const double second[3], double t[9]) {
    double a[3], b[3];
    memcpy(a, first, sizeof a);
    memcpy(b, second, sizeof b);
    normalise(a);
    normalise(b);
    memcpy(t, a, sizeof a);
    cross(a, b, t + 6);
    const double sine = normalise(t + 6);
    cross(t + 6, t, t + 3);
    return atan2(sine, sxi_dot(3, a, b)) / PI * 180;
}

sx_status sx_crystal_set_reflections(sx_crystal *crystal, const sx_crystal_peak peak[2]) {
    double seen[2][3], known[2][3], t_seen[9], t_known[9], t[9], u[9];
    for (int k = 0; k < 2; k++) {
        turn_back(crystal, peak + k, seen[k]);
        sxi_times_vector(crystal->b, peak[k].hkl, known[k]);
    }
    const double between = triad(seen[0], seen[1], t_seen);
    const double expected = triad(known[0], known[1], t_known);
    const bool crossing = between > 1 && between < 179 && expected > 1 && expected < 179;
    if (!crossing) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "the two reflections (%g, %g, %g) and (%g, %g, %g) are zero "
                        "or parallel; expected two that span a plane",
                        peak[0].hkl[0], peak[0].hkl[1], peak[0].hkl[2], peak[1].hkl[0],
                        peak[1].hkl[1], peak[1].hkl[2]);
    }
    if (fabs(between - expected) > SAME_ANGLE) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "reflections (%g, %g, %g) and (%g, %g, %g) were seen %.2f degrees apart, "
                        "expected %.2f; their indices, the cell or the geometry are wrong",
                        peak[0].hkl[0], peak[0].hkl[1], peak[0].hkl[2], peak[1].hkl[0],
                        peak[1].hkl[1], peak[1].hkl[2], between, expected);
    }
    transpose(t_seen, t);
    sxi_matrix_times(t, t_known, u);
    sxi_matrix_times(u, crystal->b, crystal->ub);
    crystal->oriented = true;
    return SX_OK;
}

/* Pairs of vectors that a rotation should bring onto one another. */
typedef struct pairs {
    int64_t count;
    double (*seen)[3];  /* q / 2 pi, goniometer turned back */
    double (*known)[3]; /* B (h, k, l) */
} pairs;

/* The rotation u that makes sum |seen - sign u known|^2 least, as the largest eigenvector of a
 * quaternion matrix (Davenport, Horn). False where it is not unique. */
static bool best_rotation(const pairs *all, double sign, double u[9]) {
    double m[9] = {0};
    for (int64_t n = 0; n < all->count; n++) {
        for (int k = 0; k < 9; k++) {
            m[k] += sign * all->known[n][k / 3] * all->seen[n][k % 3];
        }
    }
    double a[16] = {m[0] + m[4] + m[8],  m[5] - m[7], m[6] - m[2], m[1] - m[3], m[5] - m[7],
                    m[0] - m[4] - m[8],  m[1] + m[3], m[2] + m[6], m[6] - m[2], m[1] + m[3],
                    -m[0] + m[4] - m[8], m[5] + m[7], m[1] - m[3], m[2] + m[6], m[5] + m[7],
                    -m[0] - m[4] + m[8]};
    double values[4], q[4], work[16 + 16];
    if (!sxi_symmetric_eigen(4, a, 1, values, q, work) ||
        !(values[0] - values[1] > 1e-9 * (fabs(values[0]) + fabs(values[3])))) {
        return false;
    }
    const double r[9] = {1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
                         2 * (q[1] * q[3] + q[0] * q[2]),     2 * (q[1] * q[2] + q[0] * q[3]),
                         1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1]),
                         2 * (q[1] * q[3] - q[0] * q[2]),     2 * (q[2] * q[3] + q[0] * q[1]),
                         1 - 2 * (q[1] * q[1] + q[2] * q[2])};
    memcpy(u, r, sizeof r);
    scale(sign, u, 9);
    return true;
}

static double off_by(const pairs *all, const double u[9], int64_t n) {
    double turned[3];
    sxi_times_vector(u, all->known[n], turned);
    for (int k = 0; k < 3; k++) {
        turned[k] -= all->seen[n][k];
    }
    return 2 * PI * sxi_norm(3, turned);
}

static double rms_of(const pairs *all, const double u[9]) {
    double sum = 0;
    for (int64_t n = 0; n < all->count; n++) {
        const double off = off_by(all, u, n);
        sum += off * off;
    }
    return sqrt(sum / (double)all->count);
}

/* Whether another point of the reciprocal lattice is nearer to the peak than the one named. */
static bool is_misindexed(const sx_crystal *crystal, const pairs *all, const double u[9], int64_t n,
                          const double hkl[3]) {
    double back[3], found[3], g[3];
    sxi_vector_times(all->seen[n], u, back);
    sxi_times_vector(crystal->b_inverse, back, found);
    sx_crystal_fold(crystal, found, g, NULL);
    const double other[3] = {g[0] - hkl[0], g[1] - hkl[1], g[2] - hkl[2]};
    return fabs(other[0]) + fabs(other[1]) + fabs(other[2]) > 1e-6;
}

static double degrees_between(const sx_crystal *crystal, const double u[9]) {
    double before[9], t[9], turn[9];
    if (!crystal->oriented) {
        return NAN;
    }
    sxi_matrix_times(crystal->ub, crystal->b_inverse, before);
    transpose(before, t);
    sxi_matrix_times(u, t, turn);
    const double skew[3] = {turn[7] - turn[5], turn[2] - turn[6], turn[3] - turn[1]};
    return atan2(sxi_norm(3, skew), turn[0] + turn[4] + turn[8] - 1) / PI * 180;
}

static void judge(const sx_crystal *crystal, const pairs *all, const sx_crystal_peak *peak,
                  const double u[9], sx_crystal_fit *fit) {
    double improper[9];
    *fit = (sx_crystal_fit){.rms = rms_of(all, u), .mirrored = NAN};
    for (int64_t n = 0; n < all->count; n++) {
        const double off = off_by(all, u, n);
        if (off > fit->worst_off) {
            fit->worst_off = off;
            fit->worst = n;
        }
        fit->misindexed += is_misindexed(crystal, all, u, n, peak[n].hkl);
    }
    fit->turned = degrees_between(crystal, u);
    if (best_rotation(all, -1, improper)) {
        fit->mirrored = rms_of(all, improper);
    }
}

static sx_status verdict(const sx_crystal *crystal, const sx_crystal_peak *peak, double tolerance,
                         const sx_crystal_fit *fit) {
    const double *hkl = peak[fit->worst].hkl;
    const double limit = tolerance > 0 ? tolerance : 0.25 * 2 * PI * sxi_norm(3, crystal->zone);
    if (fit->worst_off > limit || fit->misindexed > 0) {
        return SXI_FAIL(SX_ERR_NUMERIC,
                        "peak %lld, (%g, %g, %g), is %.3g 1/Angstrom off, expected at most %.3g; "
                        "rms %.3g, %lld peaks have other indices nearer%s",
                        (long long)fit->worst + 1, hkl[0], hkl[1], hkl[2], fit->worst_off, limit,
                        fit->rms, (long long)fit->misindexed,
                        fit->mirrored < 0.3 * fit->rms
                            ? "; a mirrored laboratory fits, so one axis of the geometry is "
                              "reversed"
                            : "; indices, cell or geometry are wrong");
    }
    return SX_OK;
}

sx_status sx_crystal_refine(sx_crystal *crystal, int64_t count, const sx_crystal_peak *peak,
                            double tolerance, sx_crystal_fit *fit) {
    sx_status status = SX_OK;
    double u[9];
    sx_crystal_fit found;
    if (count < 2) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%lld peaks; at least two are needed", (long long)count);
    }
    pairs all = {.count = count,
                 .seen = malloc((size_t)count * sizeof *all.seen),
                 .known = malloc((size_t)count * sizeof *all.known)};
    if (!all.seen || !all.known) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld peaks", (long long)count);
        goto out;
    }
    for (int64_t n = 0; n < count; n++) {
        turn_back(crystal, peak + n, all.seen[n]);
        sxi_times_vector(crystal->b, peak[n].hkl, all.known[n]);
    }
    if (!best_rotation(&all, 1, u)) {
        status = SXI_FAIL(SX_ERR_ARGUMENT,
                          "the %lld peaks lie in one line, or are no numbers; "
                          "expected some in a plane at least",
                          (long long)count);
        goto out;
    }
    judge(crystal, &all, peak, u, &found);
    if (fit) {
        *fit = found;
    }
    SXI_GO(verdict(crystal, peak, tolerance, &found));
    sxi_matrix_times(u, crystal->b, crystal->ub);
    crystal->oriented = true;
out:
    free(all.seen);
    free(all.known);
    return status;
}
