/* SPDX-License-Identifier: Apache-2.0
 * Parameters of a truth as a vector, and the least errors they can be known with (Cramer and Rao):
 * the full model differentiated by numbers. */
#ifndef SX_BOUNDS_H
#define SX_BOUNDS_H

#include "sx_traces.h"

enum { SX_MOST_PARAMETERS = 4 + 4 * SX_DCOS_MAX_MODES };

/* Parameters in the order: offset, slope or (amplitude, time), then f, A, g, p of each mode. */
static inline int sx_truth_pack(const sx_truth *truth, double *p) {
    int n = 0;
    p[n++] = truth->offset;
    if (truth->slope != 0) {
        p[n++] = truth->slope;
    }
    if (truth->time > 0) {
        p[n++] = truth->amplitude;
        p[n++] = truth->time;
    }
    for (int k = 0; k < truth->tones; k++) {
        memcpy(p + n, &truth->tone[k], sizeof truth->tone[k]);
        n += 4;
    }
    return n;
}

static inline void sx_truth_unpack(const double *p, sx_truth *truth) {
    truth->offset = *p++;
    if (truth->slope != 0) {
        truth->slope = *p++;
    }
    if (truth->time > 0) {
        truth->amplitude = *p++;
        truth->time = *p++;
    }
    for (int k = 0; k < truth->tones; k++, p += 4) {
        memcpy(&truth->tone[k], p, sizeof truth->tone[k]);
    }
}

static inline void sx_fit_unpack(const sx_dcos_fit *fit, double t0, sx_truth *truth,
                                 double *error) {
    int n = 0;
    *truth = (sx_truth){.tones = fit->modes, .offset = fit->offset, .t0 = t0};
    error[n++] = fit->offset_error;
    if (isfinite(fit->background_slope)) {
        truth->slope = fit->background_slope;
        error[n++] = fit->background_slope_error;
    }
    if (isfinite(fit->background_time)) {
        truth->amplitude = fit->background_amplitude;
        truth->time = fit->background_time;
        error[n++] = fit->background_amplitude_error;
        error[n++] = fit->background_time_error;
    }
    for (int k = 0; k < fit->modes; k++) {
        const sx_dcos_mode *m = &fit->mode[k];
        truth->tone[k] = (sx_tone){m->frequency, m->amplitude, m->decay, m->phase};
        error[n++] = m->frequency_error;
        error[n++] = m->amplitude_error;
        error[n++] = m->decay_error;
        error[n++] = m->phase_error;
    }
}

/* a = a^-1 by Gauss and Jordan; positive definite matrices need no pivots. */
static inline void sx_invert(int n, double a[SX_MOST_PARAMETERS][SX_MOST_PARAMETERS]) {
    for (int c = 0; c < n; c++) {
        double pivot = 1 / a[c][c];
        a[c][c] = 1;
        for (int j = 0; j < n; j++) {
            a[c][j] *= pivot;
        }
        for (int r = 0; r < n; r++) {
            double factor = a[r][c];
            if (r != c) {
                a[r][c] = 0;
                for (int j = 0; j < n; j++) {
                    a[r][j] -= factor * a[c][j];
                }
            }
        }
    }
}

/* 1-sigma errors of all parameters at truth: the diagonal of (J' W J)^-1, J by central differences
 * of 1e-6, which are good to 1e-9. Scaled to a unit diagonal before it is inverted. */
static inline void sx_bound_errors(const sx_truth *truth, int64_t nt, const double *t,
                                   const double *sigma, double *error) {
    double p[SX_MOST_PARAMETERS], scale[SX_MOST_PARAMETERS];
    double normal[SX_MOST_PARAMETERS][SX_MOST_PARAMETERS] = {{0}};
    double *jacobian = malloc((size_t)nt * SX_MOST_PARAMETERS * sizeof *jacobian);
    int n = sx_truth_pack(truth, p);
    for (int j = 0; j < n; j++) {
        double middle = p[j], step = 1e-6 * fmax(fabs(middle), 0.1);
        sx_truth up = *truth, down = *truth;
        p[j] = middle + step;
        sx_truth_unpack(p, &up);
        p[j] = middle - step;
        sx_truth_unpack(p, &down);
        p[j] = middle;
        for (int64_t i = 0; i < nt; i++) {
            jacobian[i * SX_MOST_PARAMETERS + j] =
                (sx_truth_at(&up, t[i]) - sx_truth_at(&down, t[i])) / (2 * step * sigma[i]);
        }
    }
    for (int64_t i = 0; i < nt; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < n; k++) {
                normal[j][k] +=
                    jacobian[i * SX_MOST_PARAMETERS + j] * jacobian[i * SX_MOST_PARAMETERS + k];
            }
        }
    }
    for (int j = 0; j < n; j++) {
        scale[j] = sqrt(normal[j][j]);
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < n; k++) {
            normal[j][k] /= scale[j] * scale[k];
        }
    }
    free(jacobian);
    sx_invert(n, normal);
    for (int j = 0; j < n; j++) {
        error[j] = sqrt(normal[j][j]) / scale[j];
    }
}

#endif
