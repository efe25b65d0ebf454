/* SPDX-License-Identifier: Apache-2.0 */
#include "sagips/events/draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/rng.h"
#include "sagips/theory/theory.h"

enum { CELLS_LINE = 4096, CELLS_PLANE = 512 };

/* The density of a channel on a grid: at the corners of cells, and summed over them. */
typedef struct table {
    int dimensions;
    int64_t side;              /* cells along an axis */
    const sx_observable *axis; /* [dimensions] */
    double *corner;            /* [side + 1] or [side + 1][side + 1] */
    double *sum;               /* [cells + 1] integrals up to a cell, from 0 to 1 */
} table;

struct sxi_drawer {
    const sx_theory *theory;
    uint64_t seed;
    table channel[SX_THEORY_CHANNELS];
};

static double edge(const sx_observable *o, int64_t side, double i) {
    return o->low + (o->high - o->low) * (i / (double)side);
}

/* The points x [n][dimensions] of a grid with side + more points an axis, shifted by half a cell
 * where more is 0. */
static void grid(const table *t, int more, double *x) {
    const int64_t side = t->side + more;
    const double shift = more ? 0 : 0.5;
    const int64_t n = t->dimensions == 1 ? side : side * side;
    for (int64_t i = 0; i < n; i++) {
        int64_t left = i;
        for (int d = t->dimensions - 1; d >= 0; d--) {
            x[i * t->dimensions + d] = edge(t->axis + d, t->side, (double)(left % side) + shift);
            left /= side;
        }
    }
}

/* Simpson's rule in a line; in a plane its sum form, the middle twice the corners. */
static void sum_cells(table *t, const double *middle) {
    const int64_t side = t->side, cells = t->dimensions == 1 ? side : side * side;
    t->sum[0] = 0;
    for (int64_t i = 0; i < cells; i++) {
        double value;
        if (t->dimensions == 1) {
            value = (t->corner[i] + 4 * middle[i] + t->corner[i + 1]) / 6;
        } else {
            const double *c = t->corner + (i / side) * (side + 1) + i % side;
            value = (c[0] + c[1] + c[side + 1] + c[side + 2]) / 12 + middle[i] * 2 / 3;
        }
        t->sum[i + 1] = t->sum[i] + value;
    }
}

static sx_status table_create(const sx_theory *theory, int channel, const double *p, table *t) {
    sx_status status = SX_OK;
    t->dimensions = theory->channel[channel].dimensions;
    t->side = t->dimensions == 1 ? CELLS_LINE : CELLS_PLANE;
    t->axis = theory->observable + sxi_theory_column(theory, channel);
    const int64_t cells = t->dimensions == 1 ? t->side : t->side * t->side;
    const int64_t corners = t->dimensions == 1 ? t->side + 1 : (t->side + 1) * (t->side + 1);
    t->corner = malloc((size_t)corners * sizeof(double));
    t->sum = malloc((size_t)(cells + 1) * sizeof(double));
    double *x = malloc((size_t)(corners * t->dimensions) * sizeof *x);
    double *middle = malloc((size_t)cells * sizeof *middle);
    if (!t->corner || !t->sum || !x || !middle) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for a grid of %lld cells", (long long)cells);
        goto out;
    }
    grid(t, 0, x);
    theory->density(p, channel, cells, x, middle, NULL);
    grid(t, 1, x);
    theory->density(p, channel, corners, x, t->corner, NULL);
    sum_cells(t, middle);
    const double all = t->sum[cells];
    bool good = all > 0 && isfinite(all);
    for (int64_t i = 0; good && i < corners; i++) {
        good = t->corner[i] >= 0;
    }
    if (!good) {
        status = SXI_FAIL(SX_ERR_NUMERIC,
                          "the density of channel %d of %s is negative, not finite or zero: no "
                          "events can be drawn from it",
                          channel, theory->name);
        goto out;
    }
    for (int64_t i = 0; i <= cells; i++) {
        t->sum[i] /= all;
    }
out:
    free(x);
    free(middle);
    return status;
}

sx_status sxi_drawer_create(const sx_theory *theory, const double *p, uint64_t seed,
                            sxi_drawer **drawer) {
    sx_status status = SX_OK;
    *drawer = NULL;
    sxi_drawer *made = calloc(1, sizeof *made);
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to draw events");
    }
    made->theory = theory;
    made->seed = seed;
    for (int k = 0; k < theory->channels; k++) {
        SXI_GO(table_create(theory, k, p, made->channel + k));
    }
    *drawer = made;
    made = NULL;
out:
    sxi_drawer_destroy(&made);
    return status;
}

void sxi_drawer_destroy(sxi_drawer **drawer) {
    if (!drawer || !*drawer) {
        return;
    }
    for (int k = 0; k < SX_THEORY_CHANNELS; k++) {
        free((*drawer)->channel[k].corner);
        free((*drawer)->channel[k].sum);
    }
    free(*drawer);
    *drawer = NULL;
}

/* The last cell that begins at or below u. */
static int64_t cell_of(const table *t, int64_t cells, double u) {
    int64_t low = 0, high = cells;
    while (high - low > 1) {
        const int64_t half = low + (high - low) / 2;
        if (t->sum[half] <= u) {
            low = half;
        } else {
            high = half;
        }
    }
    return low;
}

/* Where the integral of a density that goes from a to b in a line has the share s; 0..1. */
static double linear(double a, double b, double s) {
    const double root = a + sqrt(a * a + s * (b * b - a * a));
    return root > 0 ? s * (a + b) / root : s;
}

static void draw_line(const table *t, double u, double *x) {
    const int64_t i = cell_of(t, t->side, u);
    const double s = (u - t->sum[i]) / (t->sum[i + 1] - t->sum[i]);
    x[0] = edge(t->axis, t->side, (double)i + linear(t->corner[i], t->corner[i + 1], s));
}

static void draw_plane(const table *t, double u, double v, double *x) {
    const int64_t i = cell_of(t, t->side * t->side, u);
    const double s = (u - t->sum[i]) / (t->sum[i + 1] - t->sum[i]);
    const int64_t row = i / t->side, column = i % t->side;
    const double *near = t->corner + row * (t->side + 1) + column;
    const double *far = near + t->side + 1;
    const double a = linear(near[0] + near[1], far[0] + far[1], s);
    const double left = near[0] + a * (far[0] - near[0]), right = near[1] + a * (far[1] - near[1]);
    x[0] = edge(t->axis, t->side, (double)row + a);
    x[1] = edge(t->axis + 1, t->side, (double)column + linear(left, right, v));
}

void sxi_drawer_event(const sxi_drawer *drawer, int64_t i, double *event) {
    for (int k = 0; k < drawer->theory->channels; k++) {
        const table *t = drawer->channel + k;
        const uint32_t stream = 2 * (uint32_t)k;
        const double u = sxi_rng_uniform(drawer->seed, stream, (uint64_t)i);
        if (t->dimensions == 1) {
            draw_line(t, u, event);
        } else {
            draw_plane(t, u, sxi_rng_uniform(drawer->seed, stream + 1, (uint64_t)i), event);
        }
        event += t->dimensions;
    }
}
