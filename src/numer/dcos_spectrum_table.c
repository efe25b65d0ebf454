/* SPDX-License-Identifier: Apache-2.0
 * Tables of the search by spectra: what each bin's product gains, and what decay the gains of two
 * levels speak of. */
#include "numer/dcos_spectrum_table.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "kern/column.h"
#include "kern/kern.h"
#include "kern/wave.h"

/* --- sums over the true delays --- */

/* A filter's sums of weight times 1, u, v, uu, uv, vv. */
typedef struct sums {
    double one, u, v, uu, uv, vv;
} sums;

/* The true delays as columns, padded; all NULL where the grid itself is meant. */
typedef struct columns {
    int64_t n;
    double *memory;
    double *x, *s, *u, *v;
    double one;
} columns;

static sx_status columns_create(const sxi_dcos_spectrum_grid *grid, columns *c) {
    *c = (columns){.n = (grid->delays + SXI_LANES - 1) / SXI_LANES * SXI_LANES};
    if (c->n == 0) {
        c->one = (double)grid->samples;
        return SX_OK;
    }
    c->memory = aligned_alloc(64, (size_t)c->n * 4 * sizeof(double));
    if (!c->memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for start values on %lld delays",
                        (long long)grid->delays);
    }
    c->x = c->memory;
    c->s = c->x + c->n;
    c->u = c->s + c->n;
    c->v = c->u + c->n;
    for (int64_t i = 0; i < c->n; i++) {
        bool real = i < grid->delays;
        c->x[i] = real ? grid->x[i] : 0;
        c->s[i] = !real ? 0 : grid->weight ? sqrt(grid->weight[i]) : 1;
    }
    c->one = sxi_column_dot(c->n, c->s, c->s);
    return SX_OK;
}

/* exp(-(g + 2 pi i f) x) = u - i v. */
static void wave(double g, double f, double x, double *u, double *v) {
    double e = sxi_wave_decay(g * x);
    sxi_wave_turn(2 * f * x, u, v);
    *u *= e;
    *v *= e;
}

/* sum_k exp(-g x_k) (cos, sin)(2 pi f x_k) over an even grid: a geometric series, (1 - q^n) / (1 -
 * q) times its first term. */
static void series(const sxi_dcos_spectrum_grid *grid, double g, double f, double *u, double *v) {
    double n = (double)grid->samples, qu, qv, pu, pv, first_u, first_v;
    wave(g, f, grid->step, &qu, &qv);
    wave(g, f, grid->step * n, &pu, &pv);
    wave(g, f, grid->first, &first_u, &first_v);
    double square = (1 - qu) * (1 - qu) + qv * qv;
    double re = square > 0 ? ((1 - pu) * (1 - qu) + pv * qv) / square : n;
    double im = square > 0 ? (pv * (1 - qu) - (1 - pu) * qv) / square : 0;
    *u = re * first_u + im * first_v;
    *v = re * first_v - im * first_u;
}

static sums sums_even(const sxi_dcos_spectrum_grid *grid, double g, double f) {
    sums s = {.one = (double)grid->samples};
    double square, none, u2, v2;
    series(grid, g, f, &s.u, &s.v);
    series(grid, 2 * g, 2 * f, &u2, &v2);
    series(grid, 2 * g, 0, &square, &none);
    s.uu = 0.5 * (square + u2);
    s.uv = 0.5 * v2;
    s.vv = 0.5 * (square - u2);
    return s;
}

static sums sums_uneven(columns *c, double g, double f) {
    sxi_column_dcos(c->n, c->x, 0, c->s, g, f, c->u, c->v);
    return (sums){.one = c->one,
                  .u = sxi_column_dot(c->n, c->u, c->s),
                  .v = sxi_column_dot(c->n, c->v, c->s),
                  .uu = sxi_column_dot(c->n, c->u, c->u),
                  .uv = sxi_column_dot(c->n, c->u, c->v),
                  .vv = sxi_column_dot(c->n, c->v, c->v)};
}

/* --- forms --- */

/* The gain [ru rv] [uu uv; uv vv]^-1 [ru; rv] in terms of twice the grid's sum, as the kernel has
 * it, with ru - i rv = factor exp(-2 pi i f first) sum. */
static void put_form(const sxi_dcos_spectrum_grid *grid, const sums *s, double g, double f,
                     float form[3]) {
    double over = grid->centred ? 1 / s->one : 0;
    double uu = s->uu - s->u * s->u * over, uv = s->uv - s->u * s->v * over;
    double vv = s->vv - s->v * s->v * over, determinant = uu * vv - uv * uv;
    double a = 0, b = 0, d = 0; /* a ru^2 + b ru (-rv) + d rv^2 */
    if (determinant > 1e-4 * s->uu * s->vv) {
        a = vv / determinant;
        b = 2 * uv / determinant;
        d = uu / determinant;
    } else if (uu + vv > 1e-4 * (s->uu + s->vv)) {
        /* at zero and Nyquist u and v are one column, of which only the length counts */
        a = d = 1 / (uu + vv);
    }
    double factor[2] = {1, 0}, cosine, sine;
    if (grid->factor) {
        grid->factor(grid->data, g, f, factor);
    }
    sxi_wave_turn(-2 * f * grid->first, &cosine, &sine);
    double p = 0.5 * (factor[0] * cosine - factor[1] * sine);
    double q = 0.5 * (factor[0] * sine + factor[1] * cosine);
    form[0] = (float)(a * p * p + b * p * q + d * q * q);
    form[1] = (float)(2 * (d - a) * p * q + b * (p * p - q * q));
    form[2] = (float)(a * q * q - b * p * q + d * p * p);
}

sx_status sxi_dcos_spectrum_forms(const sxi_dcos_spectrum_grid *grid, double step,
                                  sxi_spectrum_level *level) {
    columns c;
    SXI_TRY(columns_create(grid, &c));
    /* With very many uneven delays only bins near the ends are summed: in between, u and v are
     * orthogonal, of one length and free of a mean, as far as start values go. */
    const double most_products = (double)(1 << 27);
    int64_t ends = level->top + 1;
    if (c.n > 0 && most_products / (double)c.n < (double)ends) {
        ends = 16 + (int64_t)(most_products / (double)c.n / 2);
    }
    double g = level->decay;
    sums middle = {0};
    for (int64_t k = 0; k <= level->top; k++) {
        double f = step * (double)k;
        sums s = middle;
        if (c.n == 0) {
            s = sums_even(grid, g, f);
        } else if (k < ends || k > level->top - ends) {
            s = sums_uneven(&c, g, f);
            middle = (sums){.one = s.one, .uu = 0.5 * (s.uu + s.vv), .vv = 0.5 * (s.uu + s.vv)};
        }
        put_form(grid, &s, g, f, level->form + 3 * k);
    }
    free(c.memory);
    return SX_OK;
}

/* --- between levels --- */

enum { DECAYS = 128, ENOUGH = 512 };

/* sum w exp(-g x) over at most ENOUGH of the delays. */
static double mass(int64_t n, const double *x, const double *w, double g) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += w[i] * sxi_wave_decay(g * x[i]);
    }
    return sum;
}

/* What both levels see lies nearer to one of them than to a third. */
static void range(const sxi_dcos_spectrum *spectrum, int lower, double *least, double *most) {
    const sxi_spectrum_level *level = spectrum->level;
    const int upper = lower + 1;
    *least = lower > 0 ? sqrt(level[lower - 1].decay * level[lower].decay) : 0;
    *most = upper + 1 < spectrum->levels ? sqrt(level[upper].decay * level[upper + 1].decay)
                                         : 2.5 * level[upper].decay;
}

static void invert(const double *decay, const double *own, const double *next,
                   sxi_spectrum_between *between) {
    double share[DECAYS];
    for (int i = 0; i < DECAYS; i++) {
        share[i] = next[i] / (own[i] + next[i]);
    }
    const double first = share[0], step = (share[DECAYS - 1] - first) / SXI_SPECTRUM_STEPS;
    between->least = (float)first;
    between->steps = step > 0 ? (float)(1 / step) : 0;
    int i = 0;
    for (int j = 0; j <= SXI_SPECTRUM_STEPS; j++) {
        double wanted = first + step * (double)j;
        while (i + 2 < DECAYS && share[i + 1] < wanted) {
            i++;
        }
        double part = (wanted - share[i]) / (share[i + 1] - share[i]);
        part = part > 0 ? fmin(part, 1) : 0; /* NaN, too: equal shares */
        between->decay[j] = (float)(decay[i] + part * (decay[i + 1] - decay[i]));
        double total = own[i] + next[i] + part * (own[i + 1] + next[i + 1] - own[i] - next[i]);
        between->rise[j] = (float)(1 / total);
    }
    between->decay[SXI_SPECTRUM_STEPS + 1] = between->decay[SXI_SPECTRUM_STEPS];
    between->rise[SXI_SPECTRUM_STEPS + 1] = between->rise[SXI_SPECTRUM_STEPS];
}

/* The part of the gain of a damped cosine that a filter of another decay keeps. */
static double kept(int64_t n, const double *x, const double *w, double filter, double decay) {
    const double cross = mass(n, x, w, filter + decay);
    return cross * cross / (mass(n, x, w, 2 * filter) * mass(n, x, w, 2 * decay));
}

void sxi_dcos_spectrum_between(const sxi_dcos_spectrum_grid *grid, sxi_dcos_spectrum *spectrum) {
    double x[ENOUGH] = {0}, w[ENOUGH] = {0}, decay[DECAYS], own[DECAYS], next[DECAYS];
    int64_t delays = grid->delays ? grid->delays : grid->samples;
    int64_t n = delays < ENOUGH ? delays : ENOUGH;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = i * delays / n;
        x[i] = grid->delays ? grid->x[k] : grid->first + grid->step * (double)k;
        w[i] = grid->delays && grid->weight ? grid->weight[k] : 1;
    }
    for (int l = 0; l + 1 < spectrum->levels; l++) {
        double least, most;
        range(spectrum, l, &least, &most);
        const double first = fmax(least, 0.05); /* then up to the most by equal factors */
        for (int i = 0; i < DECAYS; i++) {
            decay[i] = i ? first * pow(most / first, (double)i / (DECAYS - 1)) : least;
            own[i] = kept(n, x, w, spectrum->level[l].decay, decay[i]);
            next[i] = kept(n, x, w, spectrum->level[l + 1].decay, decay[i]);
        }
        invert(decay, own, next, &spectrum->between[l]);
    }
}
