/* SPDX-License-Identifier: Apache-2.0
 * The file of simulated events. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "engine/launcher.h"
#include "io/hdf5/h5file.h"
#include "sagips/events/draw.h"
#include "sagips/theory/theory.h"

/* Events drawn and written at a time. */
enum { BATCH = 1 << 20 };

/* --- "p0=2.1,p3=0.9" --- */

static sx_status set_one(const sx_theory *theory, char *word, double *p) {
    char *value = strchr(word, '=');
    if (!value) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "'%.40s' found among the true parameters, expected NAME=VALUE", word);
    }
    *value++ = '\0';
    const char *names[SX_THEORY_PARAMETERS];
    for (int j = 0; j < theory->parameters; j++) {
        const sx_parameter *about = theory->parameter + j;
        names[j] = about->name;
        if (strcmp(word, about->name) != 0) {
            continue;
        }
        if (sx_parse_real(value, p + j) != SX_OK) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "%s is '%.40s', which is not a number", word, value);
        }
        if (!(p[j] >= about->least && p[j] <= about->most)) {
            return SXI_FAIL(SX_ERR_RANGE, "%s is %g; it lies between %g and %g", word, p[j],
                            about->least, about->most);
        }
        return SX_OK;
    }
    const char *nearest = sx_nearest(word, names, theory->parameters);
    return SXI_FAIL(SX_ERR_MISSING, "%s has no parameter '%.40s'; its first is %s", theory->name,
                    word, nearest ? nearest : names[0]);
}

static sx_status read_truth(const sx_theory *theory, const char *text, double *p) {
    sx_status status = SX_OK;
    for (int j = 0; j < theory->parameters; j++) {
        p[j] = theory->parameter[j].truth;
    }
    char *words = text ? strdup(text) : NULL, *rest = NULL;
    if (text && !words) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the true parameters");
    }
    for (char *word = words ? strtok_r(words, ",", &rest) : NULL; word;
         word = strtok_r(NULL, ",", &rest)) {
        SXI_GO(set_one(theory, word, p));
    }
out:
    free(words);
    return status;
}

/* --- the file --- */

/* To float without leaving the box. */
static float inside(double x, const sx_observable *o) {
    const float value = (float)x;
    return (double)value >= o->high  ? nextafterf((float)o->high, (float)o->low)
           : (double)value <= o->low ? nextafterf((float)o->low, (float)o->high)
                                     : value;
}

static void fill(const sx_theory *theory, const sxi_drawer *drawer, int64_t first, int64_t count,
                 float *events, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        double event[SX_THEORY_COLUMNS];
        sxi_drawer_event(drawer, first + i, event);
        for (int c = 0; c < theory->observables; c++) {
            events[i * theory->observables + c] = inside(event[c], theory->observable + c);
        }
    }
}

static sx_status write_events(const sx_theory *theory, const sxi_drawer *drawer, int64_t events,
                              sxi_h5_writer *writer, const sx_context *context) {
    sx_status status = SX_OK;
    const int64_t shape[2] = {events, theory->observables};
    sx_array batch = {0};
    SXI_GO(sxi_h5_dataset_create(writer, "/events", SX_F32, 2, shape, "",
                                 "one event a row, one observable a column"));
    for (int64_t first = 0; first < events; first += BATCH) {
        const int64_t left = events - first;
        const int64_t count[2] = {left < BATCH ? left : BATCH, theory->observables};
        const int64_t start[2] = {first, 0};
        if (sx_cancelled(context)) {
            status = SXI_FAIL(SX_ERR_CANCELLED, "cancelled at event %lld of %lld", (long long)first,
                              (long long)events);
            goto out;
        }
        SXI_GO(sx_array_create(SX_F32, 2, count, &batch));
        fill(theory, drawer, first, count[0], batch.data, sx_threads(context));
        SXI_GO(sxi_h5_write_box(writer, "/events", start, &batch));
        sx_array_destroy(&batch);
        sx_progress(context, "events", first + count[0], events);
    }
out:
    sx_array_destroy(&batch);
    return status;
}

static sx_status write_about(const sx_theory *theory, const double *p, uint64_t seed,
                             sxi_h5_writer *writer) {
    const char *columns[SX_THEORY_COLUMNS], *names[SX_THEORY_PARAMETERS];
    double norms[SX_THEORY_CHANNELS];
    const int64_t channels = theory->channels, number = (int64_t)seed;
    sx_array array;
    for (int c = 0; c < theory->observables; c++) {
        columns[c] = theory->observable[c].name;
    }
    for (int j = 0; j < theory->parameters; j++) {
        names[j] = theory->parameter[j].name;
    }
    SXI_TRY(sx_theory_norms(theory, p, norms, NULL));
    SXI_TRY(sx_array_view(SX_F64, 1, &channels, norms, &array));
    SXI_TRY(sxi_h5_write(writer, "/norms", &array, "",
                         "integral of the density of each channel over its box"));
    SXI_TRY(sxi_h5_set_text(writer, "/events", "problem", theory->name));
    SXI_TRY(sxi_h5_set_texts(writer, "/events", "columns", theory->observables, columns));
    SXI_TRY(sxi_h5_set_texts(writer, "/events", "parameters", theory->parameters, names));
    SXI_TRY(sxi_h5_set_reals(writer, "/events", "truth", theory->parameters, p));
    return sxi_h5_set_ints(writer, "/events", "seed", 1, &number);
}

sx_status sx_sagips_simulate(const sx_sagips_simulate_options *o, const char *output,
                             const sx_context *context) {
    sx_status status = SX_OK;
    const int64_t events = o->events ? o->events : 100000;
    const uint64_t seed = o->seed ? o->seed : 1;
    const sx_theory *theory = NULL;
    sxi_h5_writer *writer = NULL;
    sxi_drawer *drawer = NULL;
    double p[SX_THEORY_PARAMETERS];
    SXI_TRY(sxi_launcher_alone("sagips simulate"));
    SXI_TRY(sx_theory_find(o->theory, &theory));
    SXI_TRY(read_truth(theory, o->truth, p));
    if (events < 1 || events > (int64_t)1 << 40) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%lld events; give 1 to 2^40", (long long)events);
    }
    SXI_GO(sxi_h5_create(output, o->overwrite, &writer));
    SXI_GO(sxi_drawer_create(theory, p, seed, &drawer));
    SXI_GO(write_events(theory, drawer, events, writer, context));
    SXI_GO(write_about(theory, p, seed, writer));
    SXI_GO(sxi_h5_provenance(writer, context, 0, NULL));
    SXI_GO(sxi_h5_commit(&writer));
out:
    sxi_drawer_destroy(&drawer);
    sxi_h5_abandon(&writer);
    return status;
}
