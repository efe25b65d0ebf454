/* SPDX-License-Identifier: Apache-2.0 */
#include "fit_peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586476925286766559;
static const double FIRST_DECAY = 0.5;

fit_problem fit_problem_of(const fit_data *data, int64_t p) {
    const int64_t at = p * data->c->nt;
    return (fit_problem){data->c->nt, data->c->modes, data->t, data->y + at,
                         data->c->noise == FIT_UNKNOWN ? NULL : data->sigma + at};
}

void fit_residual(const fit_problem *problem, const double *p, double *r) {
    for (int i = 0; i < problem->nt; i++) {
        const double t = problem->t[i];
        double model = p[0];
        for (int k = 0; k < problem->modes; k++) {
            const double *q = p + 1 + 4 * k;
            model += q[0] * exp(-q[1] * t) * cos(TWO_PI * q[2] * t + q[3]);
        }
        r[i] = (model - problem->y[i]) / (problem->sigma ? problem->sigma[i] : 1);
    }
}

void fit_jacobian(const fit_problem *problem, const double *p, int sample, int parameter,
                  double *jacobian) {
    for (int i = 0; i < problem->nt; i++) {
        const double t = problem->t[i], w = problem->sigma ? 1 / problem->sigma[i] : 1;
        double *row = jacobian + i * sample;
        row[0] = w;
        for (int k = 0; k < problem->modes; k++) {
            const double *q = p + 1 + 4 * k, angle = TWO_PI * q[2] * t + q[3];
            const double envelope = w * exp(-q[1] * t);
            const double u = envelope * cos(angle), v = q[0] * envelope * sin(angle);
            double *d = row + (1 + 4 * k) * parameter;
            d[0] = u;
            d[parameter] = -t * q[0] * u;
            d[2 * parameter] = -TWO_PI * t * v;
            d[3 * parameter] = -v;
        }
    }
}

bool fit_solve(int n, double *matrix, double *right) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(matrix[i * n + k]) > fabs(matrix[best * n + k]) ? i : best;
        }
        if (!(fabs(matrix[best * n + k]) > 0)) {
            return false;
        }
        for (int j = 0; j < n; j++) {
            const double other = matrix[best * n + j];
            matrix[best * n + j] = matrix[k * n + j];
            matrix[k * n + j] = other;
        }
        const double other = right[best];
        right[best] = right[k];
        right[k] = other;
        for (int i = k + 1; i < n; i++) {
            const double factor = matrix[i * n + k] / matrix[k * n + k];
            for (int j = k; j < n; j++) {
                matrix[i * n + j] -= factor * matrix[k * n + j];
            }
            right[i] -= factor * right[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) {
            right[k] -= matrix[k * n + j] * right[j];
        }
        right[k] /= matrix[k * n + k];
    }
    return true;
}

/* --- start values --------------------------------------------------------------------------- */

/* Cosine and sine of every frequency at every delay: [count][2][nt]. */
typedef struct waves {
    int count;
    double step;
    double *table;
} waves;

static bool waves_create(const fit_data *data, waves *w) {
    const int nt = data->c->nt;
    const double last = data->t[nt - 1], span = last - data->t[0];
    w->step = 0.5 / (span * nt / (nt - 1));
    w->count = nt; /* up to half of the mean rate of samples */
    w->table = malloc((size_t)w->count * 2 * (size_t)nt * sizeof *w->table);
    for (int k = 0; w->table && k < w->count; k++) {
        double *row = w->table + (int64_t)k * 2 * nt;
        for (int i = 0; i < nt; i++) {
            row[i] = cos(TWO_PI * (k + 1) * w->step * data->t[i]);
            row[nt + i] = sin(TWO_PI * (k + 1) * w->step * data->t[i]);
        }
    }
    return w->table;
}

/* The frequency of the highest peak of r, weighted, about its weighted mean. */
static double peak(const fit_problem *problem, const waves *w, const double *r) {
    double weighted[FIT_MOST_SAMPLES], sum = 0, total = 0, most = -1, at = 0;
    for (int i = 0; i < problem->nt; i++) {
        weighted[i] = problem->sigma ? 1 / (problem->sigma[i] * problem->sigma[i]) : 1;
        sum += weighted[i] * r[i];
        total += weighted[i];
    }
    for (int i = 0; i < problem->nt; i++) {
        weighted[i] *= r[i] - sum / total;
    }
    for (int k = 0; k < w->count; k++) {
        const double *cosine = w->table + (int64_t)k * 2 * problem->nt,
                     *sine = cosine + problem->nt;
        double x = 0, y = 0;
        for (int i = 0; i < problem->nt; i++) {
            x += weighted[i] * cosine[i];
            y += weighted[i] * sine[i];
        }
        at = x * x + y * y > most ? (k + 1) * w->step : at;
        most = fmax(most, x * x + y * y);
    }
    return at;
}

/* The best offset, amplitudes and phases for the frequencies and decays in p, by normal equations
 * of 1, e^-gt cos, -e^-gt sin. */
static bool fill_linear(const fit_problem *problem, int modes, double *p) {
    enum { MOST = 1 + 2 * FIT_MOST_MODES };
    const int n = 1 + 2 * modes;
    double matrix[MOST * MOST] = {0}, right[MOST] = {0}, column[MOST] = {1};
    for (int i = 0; i < problem->nt; i++) {
        const double s = problem->sigma ? 1 / problem->sigma[i] : 1;
        for (int k = 0; k < modes; k++) {
            const double *q = p + 1 + 4 * k, angle = TWO_PI * q[2] * problem->t[i];
            column[1 + 2 * k] = exp(-q[1] * problem->t[i]) * cos(angle);
            column[2 + 2 * k] = -exp(-q[1] * problem->t[i]) * sin(angle);
        }
        for (int a = 0; a < n; a++) {
            right[a] += s * s * column[a] * problem->y[i];
            for (int b = 0; b < n; b++) {
                matrix[a * n + b] += s * s * column[a] * column[b];
            }
        }
    }
    if (!fit_solve(n, matrix, right)) {
        return false;
    }
    p[0] = right[0];
    for (int k = 0; k < modes; k++) {
        p[1 + 4 * k] = hypot(right[1 + 2 * k], right[2 + 2 * k]);
        p[4 + 4 * k] = atan2(right[2 + 2 * k], right[1 + 2 * k]);
    }
    return true;
}

static void start_one(const fit_problem *problem, const waves *w, double *p) {
    double r[FIT_MOST_SAMPLES];
    memcpy(r, problem->y, (size_t)problem->nt * sizeof *r);
    for (int k = 0; k < problem->modes; k++) {
        p[2 + 4 * k] = FIRST_DECAY;
        p[3 + 4 * k] = peak(problem, w, r);
        if (!fill_linear(problem, k + 1, p)) { /* the same peak again */
            p[3 + 4 * k] += w->step;
            fill_linear(problem, k + 1, p);
        }
        fit_problem part = *problem;
        part.modes = k + 1;
        part.sigma = NULL;
        fit_residual(&part, p, r);
        for (int i = 0; i < problem->nt; i++) {
            r[i] = -r[i];
        }
    }
}

bool fit_peer_starts(const fit_data *data, int64_t count, double *start) {
    waves w;
    if (!waves_create(data, &w)) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        const fit_problem problem = fit_problem_of(data, i);
        start_one(&problem, &w, start + i * fit_parameters(problem.modes));
    }
    free(w.table);
    return true;
}

sx_dcos_fit fit_of_parameters(int modes, const double *p) {
    sx_dcos_fit fit = {.offset = p[0], .modes = (uint8_t)modes};
    fit.background_slope = fit.background_time = (double)NAN;
    for (int k = 0; k < modes; k++) {
        const double *q = p + 1 + 4 * k;
        fit.mode[k] =
            (sx_dcos_mode){.amplitude = q[0], .decay = q[1], .frequency = q[2], .phase = q[3]};
    }
    return fit;
}
