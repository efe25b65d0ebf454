/* SPDX-License-Identifier: Apache-2.0 */
#include "sagips/likelihood/fisher.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "numer/eigen.h"

enum { MOST = SX_THEORY_PARAMETERS };

/* A null direction of exact arithmetic has some 1e-15; a direction known a billion times worse than
 * its parameters alone is beyond what a likelihood in double precision can tell. */
static const double NULL_VALUE = 1e-9;

/* Of a parameter that is not free, so that its vector does not mix with null ones. */
static const double FIXED_VALUE = -1;

/* Parts of a unit vector smaller than that are rounding. */
static const double NULL_PART = 1e-5;

sx_status sxi_fisher_create(int n, const double *matrix, const bool *is_free, sxi_fisher *fisher) {
    double scaled[MOST * MOST], work[MOST * MOST + 4 * MOST];
    *fisher = (sxi_fisher){.n = n};
    for (int i = 0; i < n; i++) {
        const double diagonal = matrix[i * n + i];
        if (!isfinite(diagonal)) {
            return SXI_FAIL(SX_ERR_NUMERIC, "the Fisher matrix is not finite in parameter %d", i);
        }
        fisher->scale[i] = !is_free[i] ? 0 : diagonal > 0 ? 1 / sqrt(diagonal) : 1;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            scaled[i * n + j] = matrix[i * n + j] * fisher->scale[i] * fisher->scale[j];
        }
        scaled[i * n + i] = is_free[i] ? scaled[i * n + i] : FIXED_VALUE;
    }
    if (!sxi_symmetric_eigen(n, scaled, n, fisher->value, fisher->vector, work)) {
        return SXI_FAIL(SX_ERR_NUMERIC, "the Fisher matrix has no eigenvalues");
    }
    while (fisher->known < n && fisher->value[fisher->known] > NULL_VALUE) {
        fisher->known++;
    }
    return SX_OK;
}

double sxi_fisher_step(const sxi_fisher *f, const double *slope, double damping, double *step) {
    double distance = 0;
    memset(step, 0, (size_t)f->n * sizeof *step);
    for (int k = 0; k < f->known; k++) {
        const double *v = f->vector + k * f->n;
        double along = 0;
        for (int i = 0; i < f->n; i++) {
            along += v[i] * f->scale[i] * slope[i];
        }
        for (int i = 0; i < f->n; i++) {
            step[i] -= f->scale[i] * v[i] * along / (f->value[k] + damping);
        }
        distance += 0.5 * along * along / f->value[k];
    }
    return distance;
}

/* Whether parameter i is not free or takes part in a null direction. */
static bool is_hidden(const sxi_fisher *f, int i) {
    for (int k = f->known; k < f->n; k++) {
        if (fabs(f->vector[k * f->n + i]) > NULL_PART) {
            return true;
        }
    }
    return false;
}

void sxi_fisher_covariance(const sxi_fisher *f, double *covariance) {
    for (int i = 0; i < f->n; i++) {
        for (int j = 0; j < f->n; j++) {
            double sum = 0;
            for (int k = 0; k < f->known; k++) {
                sum += f->vector[k * f->n + i] * f->vector[k * f->n + j] / f->value[k];
            }
            const bool hidden = is_hidden(f, i) || is_hidden(f, j);
            covariance[i * f->n + j] = hidden ? (double)NAN : f->scale[i] * f->scale[j] * sum;
        }
    }
}

int sxi_fisher_null(const sxi_fisher *f, double *vectors) {
    int count = 0;
    for (int k = f->known; k < f->n && f->value[k] > 0.5 * FIXED_VALUE; k++, count++) {
        double *to = vectors + count * f->n, length = 0;
        for (int i = 0; i < f->n; i++) {
            to[i] = f->scale[i] * f->vector[k * f->n + i];
            length += to[i] * to[i];
        }
        for (int i = 0; i < f->n; i++) {
            to[i] /= sqrt(length);
        }
    }
    return count;
}
