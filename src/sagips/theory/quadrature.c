/* SPDX-License-Identifier: Apache-2.0
 * Integrals over the box of a channel. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "sagips/theory/theory.h"

enum { NODES_LINE = 8, PANELS_LINE = 48, NODES_PLANE = 4, PANELS_PLANE = 32 };

/* Nodes in (-1, 1) and weights, by Newton's method on the Legendre polynomial of that degree. */
static void legendre(int n, double *node, double *weight) {
    for (int i = 0; i < n; i++) {
        double x = cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int turn = 0; turn < 20; turn++) {
            double p = x, before = 1;
            for (int k = 2; k <= n; k++) {
                const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (x * p - before) / (x * x - 1);
            x -= p / slope;
        }
        node[i] = x;
        weight[i] = 2 / ((1 - x * x) * slope * slope);
    }
}

/* Point i of an axis cut into equal panels. */
static double place(const sx_observable *o, int nodes, int panels, const double *node,
                    const double *weight, int64_t i, double *share) {
    const double width = (o->high - o->low) / panels;
    const int64_t panel = i / nodes;
    *share = 0.5 * width * weight[i % nodes];
    return o->low + width * ((double)panel + 0.5 * (1 + node[i % nodes]));
}

sx_status sxi_quadrature_create(const sx_theory *theory, int channel, sxi_quadrature *quadrature) {
    const int dimensions = theory->channel[channel].dimensions;
    const int nodes = dimensions == 1 ? NODES_LINE : NODES_PLANE;
    const int panels = dimensions == 1 ? PANELS_LINE : PANELS_PLANE;
    const sx_observable *axis = theory->observable + sxi_theory_column(theory, channel);
    const int64_t side = (int64_t)nodes * panels, points = dimensions == 1 ? side : side * side;
    double node[NODES_LINE], weight[NODES_LINE];
    *quadrature = (sxi_quadrature){points, malloc((size_t)(points * dimensions) * sizeof(double)),
                                   malloc((size_t)points * sizeof(double))};
    if (!quadrature->x || !quadrature->weight) {
        sxi_quadrature_destroy(quadrature);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to integrate over %lld points",
                        (long long)points);
    }
    legendre(nodes, node, weight);
    for (int64_t i = 0; i < points; i++) {
        double *x = quadrature->x + i * dimensions;
        quadrature->weight[i] = 1;
        int64_t left = i;
        for (int d = dimensions - 1; d >= 0; d--) {
            double share;
            x[d] = place(axis + d, nodes, panels, node, weight, left % side, &share);
            quadrature->weight[i] *= share;
            left /= side;
        }
    }
    return SX_OK;
}

void sxi_quadrature_destroy(sxi_quadrature *quadrature) {
    free(quadrature->x);
    free(quadrature->weight);
    *quadrature = (sxi_quadrature){0};
}

void sxi_quadrature_integral(const sx_theory *theory, int channel, const double *p,
                             const sxi_quadrature *q, double *norm, double *slope) {
    enum { BLOCK = 256 };
    const int parameters = theory->parameters, dimensions = theory->channel[channel].dimensions;
    double density[BLOCK], gradient[BLOCK * SX_THEORY_PARAMETERS] = {0};
    *norm = 0;
    for (int j = 0; slope && j < parameters; j++) {
        slope[j] = 0;
    }
    for (int64_t first = 0; first < q->points; first += BLOCK) {
        const int64_t n = q->points - first < BLOCK ? q->points - first : BLOCK;
        theory->density(p, channel, n, q->x + first * dimensions, density, slope ? gradient : NULL);
        for (int64_t i = 0; i < n; i++) {
            *norm += q->weight[first + i] * density[i];
            for (int j = 0; slope && j < parameters; j++) {
                slope[j] += q->weight[first + i] * gradient[i * parameters + j];
            }
        }
    }
}

sx_status sx_theory_norms(const sx_theory *theory, const double *p, double *norms, double *slope) {
    for (int k = 0; k < theory->channels; k++) {
        sxi_quadrature q;
        SXI_TRY(sxi_quadrature_create(theory, k, &q));
        sxi_quadrature_integral(theory, k, p, &q, norms + k,
                                slope ? slope + k * theory->parameters : NULL);
        sxi_quadrature_destroy(&q);
        if (!(norms[k] > 0 && isfinite(norms[k]))) {
            return SXI_FAIL(SX_ERR_NUMERIC, "the density of channel %d of %s has the integral %g",
                            k, theory->name, norms[k]);
        }
    }
    return SX_OK;
}
