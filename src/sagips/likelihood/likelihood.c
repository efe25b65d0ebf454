/* SPDX-License-Identifier: Apache-2.0
 * Events are read in shards; the blocks of a shard are summed each by one thread and added in their
 * order. */
#include "sagips/likelihood/likelihood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

enum { SHARD = 1 << 18, BLOCK = 2048, BLOCKS = SHARD / BLOCK, SUMS = 1 + SX_THEORY_PARAMETERS };

void sxi_theory_physical(const sx_theory *theory, const double *q, double *p) {
    for (int j = 0; j < theory->parameters; j++) {
        const sx_parameter *about = theory->parameter + j;
        p[j] = about->least + q[j] * (about->most - about->least);
    }
}

static bool inside(const sx_theory *theory, int channel, const float *event) {
    const int column = sxi_theory_column(theory, channel);
    for (int d = column; d < column + theory->channel[channel].dimensions; d++) {
        const sx_observable *o = theory->observable + d;
        if (!((double)event[d] >= o->low && (double)event[d] <= o->high)) {
            return false;
        }
    }
    return true;
}

/* The points of a channel that lie in its box, [n][dimensions]; returns n. */
static int64_t gather(const sx_theory *theory, int channel, const float *events, int64_t count,
                      double *x) {
    const int column = sxi_theory_column(theory, channel);
    const int dimensions = theory->channel[channel].dimensions;
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        const float *event = events + i * theory->observables;
        if (inside(theory, channel, event)) {
            for (int d = 0; d < dimensions; d++) {
                x[n * dimensions + d] = (double)event[column + d];
            }
            n++;
        }
    }
    return n;
}

typedef struct scratch {
    double x[BLOCK * SX_THEORY_DIMENSIONS], density[BLOCK];
    double gradient[BLOCK * SX_THEORY_PARAMETERS];
} scratch;

/* sum [1 + P]: of minus log density, and of its derivatives by p. */
static void sum_block(const sx_theory *theory, const double *p, const float *events, int64_t count,
                      scratch *s, double *sum) {
    const int parameters = theory->parameters;
    memset(sum, 0, SUMS * sizeof *sum);
    for (int k = 0; k < theory->channels; k++) {
        const int64_t n = gather(theory, k, events, count, s->x);
        theory->density(p, k, n, s->x, s->density, s->gradient);
        for (int64_t i = 0; i < n; i++) {
            const double inverse = 1 / s->density[i];
            sum[0] -= log(s->density[i]);
            for (int j = 0; j < parameters; j++) {
                sum[1 + j] -= inverse * s->gradient[i * parameters + j];
            }
        }
    }
}

static sx_status sum_shard(sxi_likelihood *l, const double *p, int64_t n, double *total) {
    const sx_theory *theory = l->source->theory;
    const int64_t blocks = (n + BLOCK - 1) / BLOCK;
    bool memory = true;
#pragma omp parallel num_threads(sx_threads(l->context)) if (blocks > 1)
    {
        scratch *s = malloc(sizeof *s);
        if (!s) {
#pragma omp atomic write
            memory = false;
        }
#pragma omp for schedule(dynamic)
        for (int64_t b = 0; b < blocks; b++) {
            const int64_t first = b * BLOCK, left = n - first;
            if (s) {
                sum_block(theory, p, l->shard + first * theory->observables,
                          left < BLOCK ? left : BLOCK, s, l->block + b * SUMS);
            }
        }
        free(s);
    }
    if (!memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d events", BLOCK);
    }
    for (int64_t b = 0; b < blocks; b++) {
        for (int j = 0; j < SUMS; j++) {
            total[j] += l->block[b * SUMS + j];
        }
    }
    return SX_OK;
}

/* Reads all shards one after the other. */
static sx_status next_shard(sxi_likelihood *l, int64_t first, int64_t *n) {
    if (sx_cancelled(l->context)) {
        return SXI_FAIL(SX_ERR_CANCELLED, "cancelled at event %lld", (long long)first);
    }
    const int64_t left = l->events - first;
    *n = left < SHARD ? left : SHARD;
    return l->source->read(l->source, first, *n, l->shard, l->context);
}

static sx_status count_outside(sxi_likelihood *l) {
    const sx_theory *theory = l->source->theory;
    for (int64_t first = 0, n = 0; first < l->events; first += n) {
        SXI_TRY(next_shard(l, first, &n));
        for (int64_t i = 0; i < n; i++) {
            for (int k = 0; k < theory->channels; k++) {
                l->outside[k] += !inside(theory, k, l->shard + i * theory->observables);
            }
        }
    }
    return SX_OK;
}

sx_status sxi_likelihood_create(const sxi_event_source *source, bool use_norms, int64_t events,
                                const sx_context *context, sxi_likelihood *likelihood) {
    sx_status status = SX_OK;
    sxi_likelihood *l = likelihood;
    const sx_theory *theory = source->theory;
    *l = (sxi_likelihood){.source = source, .context = context, .use_norms = use_norms};
    l->events = events > 0 && events < source->count ? events : source->count;
    if (use_norms && !source->has_norms) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "the events come without norms; without them only the shape of a density "
                        "can be learnt, which is asked for by --no-norms");
    }
    const int64_t most = l->events < SHARD ? l->events : SHARD;
    l->shard = malloc((size_t)(most * theory->observables) * sizeof(float));
    l->block = malloc((size_t)BLOCKS * SUMS * sizeof(double));
    if (!l->shard || !l->block) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld events", (long long)most);
        goto out;
    }
    for (int k = 0; k < theory->channels; k++) {
        SXI_GO(sxi_quadrature_create(theory, k, l->quadrature + k));
    }
    SXI_GO(count_outside(l));
    for (int k = 0; k < theory->channels; k++) {
        if (l->outside[k] == l->events) {
            status = SXI_FAIL(
                SX_ERR_RANGE, "none of %lld events has its %s in the range of %s, %g to %g",
                (long long)l->events, theory->observable[sxi_theory_column(theory, k)].name,
                theory->name, theory->observable[sxi_theory_column(theory, k)].low,
                theory->observable[sxi_theory_column(theory, k)].high);
            goto out;
        }
    }
out:
    if (status != SX_OK) {
        sxi_likelihood_destroy(l);
    }
    return status;
}

void sxi_likelihood_destroy(sxi_likelihood *l) {
    for (int k = 0; k < SX_THEORY_CHANNELS; k++) {
        sxi_quadrature_destroy(l->quadrature + k);
    }
    free(l->shard);
    free(l->block);
    *l = (sxi_likelihood){0};
}

/* Events of a channel for each unit of its norm. */
static double exposure(const sxi_likelihood *l, int channel) {
    return (double)(l->events - l->outside[channel]) / l->source->norms[channel];
}

sx_status sxi_likelihood_value(sxi_likelihood *l, const double *q, double *value, double *slope) {
    const sx_theory *theory = l->source->theory;
    const int parameters = theory->parameters;
    double p[SX_THEORY_PARAMETERS], total[SUMS] = {0}, norms[SX_THEORY_CHANNELS];
    double slopes[SX_THEORY_CHANNELS * SX_THEORY_PARAMETERS];
    sxi_theory_physical(theory, q, p);
    for (int64_t first = 0, n = 0; first < l->events; first += n) {
        SXI_TRY(next_shard(l, first, &n));
        SXI_TRY(sum_shard(l, p, n, total));
    }
    for (int k = 0; k < theory->channels; k++) {
        const double n = (double)(l->events - l->outside[k]);
        sxi_quadrature_integral(theory, k, p, l->quadrature + k, norms + k,
                                slopes + k * parameters);
        total[0] += l->use_norms ? exposure(l, k) * norms[k] : n * log(norms[k]);
        for (int j = 0; j < parameters; j++) {
            const double by_p = slopes[k * parameters + j];
            total[1 + j] += l->use_norms ? exposure(l, k) * by_p : n * by_p / norms[k];
        }
    }
    *value = isnan(total[0]) ? (double)INFINITY : total[0];
    for (int j = 0; j < parameters; j++) {
        slope[j] = total[1 + j] * (theory->parameter[j].most - theory->parameter[j].least);
    }
    return SX_OK;
}

/* Adds sum w g g' / density to the upper triangle of matrix, and w g to norm slope and w density to
 * norm. */
static void integrate(int parameters, const sxi_quadrature *quadrature, const double *density,
                      const double *gradient, double *matrix, double *slope, double *norm) {
    for (int64_t i = 0; i < quadrature->points; i++) {
        const double *g = gradient + i * parameters;
        const double w = quadrature->weight[i];
        if (!(density[i] > 0)) {
            continue; /* no event comes from there */
        }
        *norm += w * density[i];
        for (int a = 0; a < parameters; a++) {
            slope[a] += w * g[a];
            for (int b = a; b < parameters; b++) {
                matrix[a * parameters + b] += w * g[a] * g[b] / density[i];
            }
        }
    }
}

static sx_status add_channel(const sxi_likelihood *l, int channel, const double *p,
                             double *information) {
    const sx_theory *theory = l->source->theory;
    const int parameters = theory->parameters;
    const sxi_quadrature *quadrature = l->quadrature + channel;
    double matrix[SX_THEORY_PARAMETERS * SX_THEORY_PARAMETERS] = {0};
    double slope[SX_THEORY_PARAMETERS] = {0}, norm = 0;
    double *density = malloc((size_t)quadrature->points * sizeof *density);
    double *gradient = malloc((size_t)(quadrature->points * parameters) * sizeof *gradient);
    if (!density || !gradient) {
        free(density);
        free(gradient);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to integrate over %lld points",
                        (long long)quadrature->points);
    }
    theory->density(p, channel, quadrature->points, quadrature->x, density, gradient);
    integrate(parameters, quadrature, density, gradient, matrix, slope, &norm);
    free(density);
    free(gradient);
    const double n = (double)(l->events - l->outside[channel]);
    for (int a = 0; a < parameters; a++) {
        for (int b = a; b < parameters; b++) {
            const double both = matrix[a * parameters + b];
            information[a * parameters + b] +=
                l->use_norms ? exposure(l, channel) * both
                             : n * (both / norm - slope[a] * slope[b] / (norm * norm));
        }
    }
    return SX_OK;
}

sx_status sxi_likelihood_information(const sxi_likelihood *l, const double *q,
                                     double *information) {
    const sx_theory *theory = l->source->theory;
    const int parameters = theory->parameters;
    double p[SX_THEORY_PARAMETERS], range[SX_THEORY_PARAMETERS];
    sxi_theory_physical(theory, q, p);
    memset(information, 0, (size_t)(parameters * parameters) * sizeof *information);
    for (int k = 0; k < theory->channels; k++) {
        SXI_TRY(add_channel(l, k, p, information));
    }
    for (int j = 0; j < parameters; j++) {
        range[j] = theory->parameter[j].most - theory->parameter[j].least;
    }
    for (int a = 0; a < parameters; a++) {
        for (int b = a; b < parameters; b++) {
            information[a * parameters + b] *= range[a] * range[b];
            information[b * parameters + a] = information[a * parameters + b];
        }
    }
    return SX_OK;
}
