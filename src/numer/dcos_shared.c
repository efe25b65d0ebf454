/* SPDX-License-Identifier: Apache-2.0
 * The tables behind the kernels `spread` and `shared`.
 *
 * Spreading: the grid is OVERSAMPLING times finer than the band needs. With SXI_DCOS_TAPS taps the
 * parts of other periods, which should vanish, are 4e-11 of sum |w y|; SHARPNESS is where they are
 * least (measured: 0.95 to 1 of the classical value differ by 3).
 *
 * Table: about a point s0, with x_c = 1/2 or 0,
 *
 *   exp(-s x_c) G(s) = sum_m c_m (s - s0)^m,   c_m = sum_k w_k exp(s0 (x_k - x_c)) (x_k - x_c)^m / m!
 *
 * x_c = 1/2 halves |x - x_c|; where a mode has died by then, 0 is better, as it lives in x < 1 / g. */
#include "numer/dcos_shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/kern.h"

#define OVERSAMPLING 1.4
#define SHARPNESS 0.98
#define PI 3.14159265358979323846

enum { TERMS = SXI_DCOS_TERMS, MOST_POINTS = 8, MOST_BYTES = 32 << 20, EXACT = 16 };

/* Farthest from its point that a series goes: (r / 2)^20 / 20! = 1e-13 with x_c = 1/2; with x_c = 0
 * terms are at most (r / g)^m / sqrt(2 pi m), 1e-13 as well. */
#define FAR_MIDDLE 3.7
#define FAR_START 0.25

/* --- the grid --- */

/* Modified Bessel function of order 0, z in 0 .. 50. */
static double bessel(double z) {
    double sum = 1, term = 1;
    for (int k = 1; term > 1e-17 * sum; k++) {
        term *= 0.25 * z * z / ((double)k * k);
        sum += term;
    }
    return sum;
}

/* The kernel at a distance in steps of the grid; its transform is 1 at s = 0. */
static double kernel(double sharpness, double distance) {
    const double u = 2 * distance / SXI_DCOS_TAPS, root = 1 - u * u;
    if (root < 0) {
        return 0;
    }
    return bessel(sharpness * sqrt(root)) * exp(-sharpness) * 2 * sharpness / SXI_DCOS_TAPS;
}

static void lay_grid(const sxi_dcos_grid *grid, sxi_dcos_shared *shared) {
    shared->n = grid->n;
    shared->frequency_most = grid->frequency_bound;
    if (grid->dx > 0) {
        shared->samples = grid->n;
        shared->dx = grid->dx;
        shared->decay_most = grid->decay_most;
    } else {
        shared->dx = 0.5 / (OVERSAMPLING * grid->frequency_bound);
        shared->samples = (int64_t)(1 / shared->dx) + SXI_DCOS_TAPS + 1;
        shared->first = -0.5 * SXI_DCOS_TAPS * shared->dx;
        shared->reach = 0.5 * SXI_DCOS_TAPS * shared->dx;
        shared->sharpness = SHARPNESS * PI * SXI_DCOS_TAPS * (1 - 0.5 / OVERSAMPLING);
        shared->decay_most = fmin(grid->decay_most, 0.25 / shared->dx);
    }
    shared->room = (shared->samples + 15) / 16 * 16;
}

/* Taps of the sample at x, and the point of the grid that the first is for. */
static int64_t find_taps(const sxi_dcos_shared *shared, int64_t i, double x,
                         double tap[SXI_DCOS_TAPS]) {
    memset(tap, 0, SXI_DCOS_TAPS * sizeof *tap);
    if (!(shared->sharpness > 0)) {
        tap[0] = 1;
        return i;
    }
    const double place = (x - shared->first) / shared->dx;
    const int64_t first = (int64_t)ceil(place - 0.5 * SXI_DCOS_TAPS);
    for (int t = 0; t < SXI_DCOS_TAPS; t++) {
        tap[t] = kernel(shared->sharpness, (double)(first + t) - place);
    }
    return first;
}

/* Delays increase, so the samples of a block follow each other. */
static void fill_taps(const sxi_dcos_grid *grid, const double *weight, sxi_dcos_shared *shared,
                      int32_t *sample, int32_t *window, int32_t *window_single, double *tap,
                      float *tap_single) {
    int64_t used = 0;
    for (int64_t i = 0; i < grid->n; i++) {
        double taps[SXI_DCOS_TAPS];
        const double w = weight ? weight[i] : 1;
        if (!(w > 0)) {
            continue;
        }
        const int64_t first = find_taps(shared, i, grid->x[i], taps);
        const int most =
            (int)(shared->room - first < SXI_DCOS_TAPS ? shared->room - first : SXI_DCOS_TAPS);
        for (int t = 0; t < most; t++) {
            tap[used * SXI_DCOS_WINDOW + first % 8 + t] = w * taps[t];
            tap_single[used * SXI_DCOS_WINDOW_SINGLE + first % 16 + t] = (float)(w * taps[t]);
        }
        sample[used++] = (int32_t)i;
        window[first / 8 + 1] = window_single[first / 16 + 1] = (int32_t)used;
    }
    for (int64_t b = 0; b < shared->room / 8; b++) { /* blocks without a sample */
        window[b + 1] = window[b + 1] ? window[b + 1] : window[b];
    }
    for (int64_t b = 0; b < shared->room / 16; b++) {
        window_single[b + 1] = window_single[b + 1] ? window_single[b + 1] : window_single[b];
    }
    shared->used = used;
}

static sx_status make_taps(const sxi_dcos_grid *grid, const double *weight,
                           sxi_dcos_shared *shared) {
    const size_t n = (size_t)grid->n, room = (size_t)shared->room;
    int32_t *sample = calloc(n, sizeof *sample);
    int32_t *window = calloc(room / 8 + 1, sizeof *window);
    int32_t *window_single = calloc(room / 16 + 1, sizeof *window_single);
    double *tap = calloc(n * SXI_DCOS_WINDOW, sizeof *tap);
    float *tap_single = calloc(n * SXI_DCOS_WINDOW_SINGLE, sizeof *tap_single);
    shared->sample = sample, shared->tap = tap, shared->tap_single = tap_single;
    shared->window = window, shared->window_single = window_single;
    if (!sample || !window || !window_single || !tap || !tap_single) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to spread %lld delays", (long long)grid->n);
    }
    fill_taps(grid, weight, shared, sample, window, window_single, tap, tap_single);
    return SX_OK;
}

/* --- the table --- */

/* Sums of two modes reach twice as far as one. Returns the number of rows, 0 if there are too many
 * levels. */
static double lay_levels(const sxi_dcos_grid *grid, sxi_dcos_shared *shared) {
    const double wide = sqrt(0.5); /* half a square's side in parts of half its diagonal */
    double edge = 2 * grid->decay_least, rows = 0;
    shared->levels = 0;
    while (edge <= 2 * shared->decay_most) {
        if (shared->levels == SXI_DCOS_MOST_LEVELS) {
            return 0;
        }
        sxi_dcos_level *level = &shared->level[shared->levels++];
        double half = FAR_MIDDLE * wide;
        const double start = edge / (1 - FAR_START * wide);
        level->edge = edge;
        level->middle = FAR_START * start > FAR_MIDDLE ? 0 : 0.5;
        if (!(level->middle > 0)) {
            half = start * FAR_START * wide;
        }
        level->decay = edge + half;
        level->step = half / PI;
        level->per_step = 1 / level->step;
        level->first = rows;
        level->last = rows + ceil(2 * shared->frequency_most * level->per_step);
        rows = level->last + 1;
        edge += 2 * half;
    }
    return rows;
}

/* Working space of a level. */
typedef struct series {
    int64_t n;
    double *power; /* [n][TERMS] (x - x_c)^m / m! */
    double *size;  /* [n] w exp(-decay (x - x_c)) */
    double *turn;  /* [n][2] exp(2 pi i step (x - x_c)) */
    double *z;     /* [n][2] size times the powers of turn */
} series;

static void series_begin(const sxi_dcos_grid *grid, const double *weight,
                         const sxi_dcos_level *level, series *s) {
    for (int64_t k = 0; k < s->n; k++) {
        const double x = grid->x[k] - level->middle, w = weight ? weight[k] : 1;
        double power = 1;
        for (int m = 0; m < TERMS; m++) {
            s->power[k * TERMS + m] = power;
            power *= x / (m + 1);
        }
        s->size[k] = w > 0 ? w * exp(-level->decay * x) : 0;
        s->turn[2 * k] = cos(2 * PI * level->step * x);
        s->turn[2 * k + 1] = sin(2 * PI * level->step * x);
    }
}

/* To the point number i of the level: a turn further, now and then from the start. */
static void series_go(const sxi_dcos_grid *grid, const sxi_dcos_level *level, int64_t i,
                      series *s) {
    for (int64_t k = 0; k < s->n; k++) {
        double *z = s->z + 2 * k;
        if (i % EXACT == 0) {
            const double cycles = (double)i * level->step * (grid->x[k] - level->middle);
            const double angle = 2 * PI * (cycles - round(cycles));
            z[0] = s->size[k] * cos(angle);
            z[1] = s->size[k] * sin(angle);
        } else {
            const double r = z[0] * s->turn[2 * k] - z[1] * s->turn[2 * k + 1];
            z[1] = z[0] * s->turn[2 * k + 1] + z[1] * s->turn[2 * k];
            z[0] = r;
        }
    }
}

/* Most of the time that a plan of many delays takes. */
SXI_CLONES static void series_sum(const series *s, double row[SXI_DCOS_ROW]) {
    memset(row, 0, SXI_DCOS_ROW * sizeof *row);
    for (int64_t k = 0; k < s->n; k++) {
        const double *power = s->power + k * TERMS, r = s->z[2 * k], i = s->z[2 * k + 1];
        for (int m = 0; m < TERMS; m++) {
            row[m] += r * power[m];
            row[TERMS + m] += i * power[m];
        }
    }
}

static sx_status make_rows(const sxi_dcos_grid *grid, const double *weight, int64_t count,
                           sxi_dcos_shared *shared) {
    const size_t n = (size_t)grid->n;
    series s = {.n = grid->n};
    sx_status status = SX_OK;
    double *rows = aligned_alloc(64, (size_t)count * SXI_DCOS_ROW * sizeof *rows);
    double *space = malloc(n * (TERMS + 5) * sizeof *space);
    shared->rows = rows;
    if (!rows || !space) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for a table of %lld sums over delays",
                          (long long)count);
        goto out;
    }
    s.power = space, s.size = space + n * TERMS, s.turn = s.size + n, s.z = s.turn + 2 * n;
    for (int l = 0; l < shared->levels; l++) {
        const sxi_dcos_level *level = &shared->level[l];
        series_begin(grid, weight, level, &s);
        for (int64_t i = 0; i <= (int64_t)(level->last - level->first); i++) {
            series_go(grid, level, i, &s);
            series_sum(&s, rows + ((int64_t)level->first + i) * SXI_DCOS_ROW);
        }
    }
out:
    free(space);
    return status;
}

sx_status sxi_dcos_shared_create(const sxi_dcos_grid *grid, const double *weight,
                                 sxi_dcos_shared **shared) {
    sx_status status = SX_OK;
    *shared = NULL;
    sxi_dcos_shared *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the sums of shared delays");
    }
    lay_grid(grid, made);
    const double rows = lay_levels(grid, made);
    if (made->samples < 8 || made->samples > MOST_POINTS * grid->n || !(rows > 0) ||
        rows * SXI_DCOS_ROW * sizeof *made->rows > MOST_BYTES) {
        goto out;
    }
    SXI_GO(make_taps(grid, weight, made));
    SXI_GO(make_rows(grid, weight, (int64_t)rows, made));
    *shared = made;
    made = NULL;
out:
    sxi_dcos_shared_destroy(&made);
    return status;
}

/* The struct is const to those who use it, its arrays are the owner's. */
static void release(const void *memory) {
    void *p;
    memcpy(&p, &memory, sizeof p);
    free(p);
}

void sxi_dcos_shared_destroy(sxi_dcos_shared **shared) {
    if (*shared) {
        release((*shared)->sample);
        release((*shared)->window);
        release((*shared)->window_single);
        release((*shared)->tap);
        release((*shared)->tap_single);
        release((*shared)->rows);
        free(*shared);
        *shared = NULL;
    }
}

void sxi_dcos_shared_factor(const void *shared, double decay, double frequency, double factor[2]) {
    const sxi_dcos_shared *of = shared;
    factor[0] = 1;
    factor[1] = 0;
    if (of->sharpness > 0) {
        const double r = -of->reach * decay, i = -of->reach * 2 * PI * frequency;
        const double square = of->sharpness * of->sharpness + r * r - i * i;
        const double root = sqrt(0.5 * (hypot(square, 2 * r * i) + square)); /* q, real part */
        const double turned = r * i / root, size = exp(of->sharpness - root) / of->sharpness;
        factor[0] = size * (root * cos(turned) + turned * sin(turned));
        factor[1] = size * (turned * cos(turned) - root * sin(turned));
    }
}
