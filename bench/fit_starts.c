/* SPDX-License-Identifier: Apache-2.0 */
#include "fit_starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kern/column.h"
#include "kern/kern.h"

enum { WIDTH = FIT_STARTS_WIDTH, PADDED = (FIT_MOST_SAMPLES + SXI_LANES) / SXI_LANES * SXI_LANES };
static const double TWO_PI = 6.283185307179586476925286766559;

/* e-foldings over the span: three beyond what grows, up to a mode of a tenth of the span and a
 * spike. */
static const double DECAYS[] = {-1.5, 0, 1.5, 4, 9, 20, 45, 100};
enum { LEVELS = sizeof DECAYS / sizeof *DECAYS };

/* The sums of a pair of columns u, v with weights w, about their weighted means. */
typedef struct gram {
    double uu, uv, vv;
} gram;

struct fit_starts {
    int64_t n, frequencies;
    double span, first;
    bool shared;   /* the weights of all traces are proportional */
    bool known;    /* gram is that of the weights of all */
    double *table; /* [frequencies][LEVELS][2][n] */
    gram *gram;    /* [frequencies][LEVELS] */
    double *gain;  /* [frequencies][WIDTH] best over decays */
    uint8_t *which;
    double z[WIDTH][PADDED], w[WIDTH][PADDED]; /* weighted deviations, weights of sum 1 */
};

static double cycles(int64_t k) { return 0.5 + 0.25 * (double)k; }

static void fill_table(const fit_data *data, fit_starts *s) {
    for (int64_t k = 0; k < s->frequencies; k++) {
        for (int level = 0; level < LEVELS; level++) {
            double *u = s->table + (k * LEVELS + level) * 2 * s->n, *v = u + s->n;
            memset(u, 0, (size_t)(2 * s->n) * sizeof *u);
            for (int i = 0; i < data->c->nt; i++) {
                const double x = (data->t[i] - s->first) / s->span;
                u[i] = exp(-DECAYS[level] * x) * cos(TWO_PI * cycles(k) * x);
                v[i] = exp(-DECAYS[level] * x) * sin(TWO_PI * cycles(k) * x);
            }
        }
    }
}

fit_starts *fit_starts_create(const fit_data *data, double most) {
    const int nt = data->c->nt;
    fit_starts *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->n = (nt + SXI_LANES - 1) / SXI_LANES * SXI_LANES;
    s->first = data->t[0];
    s->span = data->t[nt - 1] - data->t[0];
    s->shared = data->c->noise != FIT_OWN;
    s->frequencies = (int64_t)((most * s->span - 0.5) / 0.25) + 1;
    const size_t points = (size_t)s->frequencies * LEVELS;
    s->table = malloc(points * 2 * (size_t)s->n * sizeof *s->table);
    s->gram = malloc(points * sizeof *s->gram);
    s->gain = malloc((size_t)s->frequencies * WIDTH * sizeof *s->gain);
    s->which = malloc((size_t)s->frequencies * WIDTH);
    if (!s->table || !s->gram || !s->gain || !s->which) {
        fit_starts_destroy(s);
        return NULL;
    }
    fill_table(data, s);
    return s;
}

void fit_starts_destroy(fit_starts *s) {
    if (s) {
        free(s->table);
        free(s->gram);
        free(s->gain);
        free(s->which);
        free(s);
    }
}

static void load(const fit_data *data, int64_t p, double *z, double *w) {
    const int nt = data->c->nt;
    const double *y = data->y + p * nt, *sigma = data->sigma + p * nt;
    double total = 0, mean = 0;
    for (int i = 0; i < nt; i++) {
        w[i] = 1 / (sigma[i] * sigma[i]);
        total += w[i];
        mean += w[i] * y[i];
    }
    mean /= total;
    for (int i = 0; i < nt; i++) {
        w[i] /= total;
        z[i] = w[i] * (y[i] - mean);
    }
}

static gram gram_of(int64_t n, const double *w, const double *u, const double *v) {
    double wu = 0, wv = 0, uu = 0, uv = 0, vv = 0;
    for (int64_t i = 0; i < n; i++) {
        wu += w[i] * u[i];
        wv += w[i] * v[i];
        uu += w[i] * u[i] * u[i];
        uv += w[i] * u[i] * v[i];
        vv += w[i] * v[i] * v[i];
    }
    return (gram){uu - wu * wu, uv - wu * wv, vv - wv * wv};
}

static double gain_of(gram g, double x, double y) {
    const double determinant = g.uu * g.vv - g.uv * g.uv;
    return determinant > 1e-6 * g.uu * g.vv
               ? (g.vv * x * x - 2 * g.uv * x * y + g.uu * y * y) / determinant
               : 0;
}

static void scan(fit_starts *s, int count) {
    for (int64_t k = 0; k < s->frequencies; k++) {
        double *gain = s->gain + k * WIDTH;
        uint8_t *which = s->which + k * WIDTH;
        memset(gain, 0, WIDTH * sizeof *gain);
        memset(which, 0, WIDTH);
        for (int level = 0; level < LEVELS; level++) {
            gram *g = &s->gram[k * LEVELS + level];
            const double *u = s->table + (k * LEVELS + level) * 2 * s->n, *v = u + s->n;
            for (int i = 0; i < count; i++) {
                if (!s->known && (!s->shared || i == 0)) {
                    *g = gram_of(s->n, s->w[i], u, v);
                }
                const double here =
                    gain_of(*g, sxi_column_dot(s->n, s->z[i], u), sxi_column_dot(s->n, s->z[i], v));
                which[i] = here > gain[i] ? (uint8_t)level : which[i];
                gain[i] = fmax(gain[i], here);
            }
        }
    }
    s->known = s->shared;
}

/* Keeps them in order, best first. */
static int insert(int number, double gain[FIT_STARTS], int64_t at[FIT_STARTS], double new_gain,
                  int64_t new_at) {
    int i = number < FIT_STARTS ? number : FIT_STARTS;
    if (i == FIT_STARTS && !(new_gain > gain[i - 1])) {
        return number;
    }
    for (i = i == FIT_STARTS ? i - 1 : i; i > 0 && new_gain > gain[i - 1]; i--) {
        gain[i] = gain[i - 1];
        at[i] = at[i - 1];
    }
    gain[i] = new_gain;
    at[i] = new_at;
    return number < FIT_STARTS ? number + 1 : number;
}

static int peaks(const fit_starts *s, int i, sx_dcos_fit start[FIT_STARTS]) {
    double gain[FIT_STARTS];
    int64_t at[FIT_STARTS];
    int number = 0;
    for (int64_t k = 0; k < s->frequencies; k++) {
        const double here = s->gain[k * WIDTH + i];
        const double left = k > 0 ? s->gain[(k - 1) * WIDTH + i] : 0;
        const double right = k + 1 < s->frequencies ? s->gain[(k + 1) * WIDTH + i] : 0;
        if (here > left && here >= right) {
            number = insert(number, gain, at, here, k);
        }
    }
    while (number > 0 && gain[number - 1] < 0.5 * gain[0]) {
        number--;
    }
    for (int j = 0; j < number; j++) {
        start[j] = (sx_dcos_fit){.modes = 1, .background_time = (double)NAN};
        start[j].mode[0].frequency = cycles(at[j]) / s->span;
        start[j].mode[0].decay = DECAYS[s->which[at[j] * WIDTH + i]] / s->span;
    }
    return number;
}

void fit_starts_find(fit_starts *s, const fit_data *data, int64_t first, int count, int *number,
                     sx_dcos_fit start[][FIT_STARTS]) {
    for (int i = 0; i < count; i++) {
        load(data, first + i, s->z[i], s->w[i]);
    }
    scan(s, count);
    for (int i = 0; i < count; i++) {
        number[i] = peaks(s, i, start[i]);
    }
}
