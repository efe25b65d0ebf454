/* SPDX-License-Identifier: Apache-2.0
 * From a file of events to the file of a solution. */
#include <stdlib.h>

#include "base/fail.h"
#include "engine/launcher.h"
#include "io/hdf5/h5file.h"
#include "sagips/events/source.h"
#include "sagips/likelihood/solve.h"

static sx_status put(sxi_h5_writer *writer, const char *name, int rank, const int64_t *shape,
                     double *values, const char *unit, const char *sentence) {
    sx_array array;
    SXI_TRY(sx_array_view(SX_F64, rank, shape, values, &array));
    return sxi_h5_write(writer, name, &array, unit, sentence);
}

static sx_status write_parameters(const sx_solution *s, sxi_h5_writer *writer) {
    const int64_t n = s->theory->parameters, square[2] = {n, n};
    const int64_t null[2] = {s->null_count, n};
    sx_solution copy = *s;
    double physical[SX_THEORY_PARAMETERS], errors[SX_THEORY_PARAMETERS];
    sxi_theory_physical(s->theory, s->parameters, physical);
    for (int j = 0; j < n; j++) {
        errors[j] = s->errors[j] * (s->theory->parameter[j].most - s->theory->parameter[j].least);
    }
    SXI_TRY(put(writer, "/solution/parameters", 1, &n, copy.parameters, "1",
                "normalised to their ranges: 0 to 1"));
    SXI_TRY(put(writer, "/solution/errors", 1, &n, copy.errors, "1",
                "1 sigma of parameters; NaN: at the end of its range, or not to be told"));
    SXI_TRY(put(writer, "/solution/parameters_physical", 1, &n, physical, "",
                "in the units of the attribute units_of_parameters"));
    SXI_TRY(put(writer, "/solution/parameters_physical_errors", 1, &n, errors, "",
                "1 sigma of parameters_physical"));
    SXI_TRY(put(writer, "/solution/covariance", 2, square, copy.covariance, "1", "of parameters"));
    return s->null_count == 0
               ? SX_OK
               : put(writer, "/solution/null_directions", 2, null, copy.null_directions, "1",
                     "unit vectors of parameters along which the events say nothing");
}

static sx_status write_about(const sx_solution *s, sxi_h5_writer *writer) {
    const char *names[SX_THEORY_PARAMETERS], *units[SX_THEORY_PARAMETERS];
    const int64_t counts[2] = {s->events, s->outside};
    for (int j = 0; j < s->theory->parameters; j++) {
        names[j] = s->theory->parameter[j].name;
        units[j] = s->theory->parameter[j].unit;
    }
    SXI_TRY(sxi_h5_set_text(writer, "/solution", "problem", s->theory->name));
    SXI_TRY(sxi_h5_set_text(writer, "/solution", "comparator", "likelihood"));
    SXI_TRY(sxi_h5_set_text(writer, "/solution", "state", sx_solution_state_name(s->state)));
    SXI_TRY(
        sxi_h5_set_texts(writer, "/solution", "names_of_parameters", s->theory->parameters, names));
    SXI_TRY(
        sxi_h5_set_texts(writer, "/solution", "units_of_parameters", s->theory->parameters, units));
    SXI_TRY(sxi_h5_set_ints(writer, "/solution", "events", 1, counts));
    return sxi_h5_set_ints(writer, "/solution", "outside", 1, counts + 1);
}

static sx_status write_history(const sx_solution *s, sxi_history *h, sxi_h5_writer *writer) {
    const int64_t shape[2] = {h->count, s->theory->parameters};
    SXI_TRY(put(writer, "/history/value", 1, shape, h->value, "1", "minus log likelihood"));
    SXI_TRY(put(writer, "/history/distance", 1, shape, h->distance, "1",
                "estimated distance to the minimum, in units of value"));
    return put(writer, "/history/parameters", 2, shape, h->parameters, "1",
               "normalised, after each iteration");
}

static void say(const sx_solution *s, const sx_context *context) {
    if (s->outside) {
        sx_log(
            context, SX_LOG_WARNING,
            "%lld points lie outside the ranges of the observables, or are not numbers: left out",
            (long long)s->outside);
    }
    if (s->null_count) {
        sx_log(context, SX_LOG_WARNING,
               "in %d direction%s the events say nothing of the parameters: those that take part "
               "have no error (/solution/null_directions)",
               s->null_count, s->null_count > 1 ? "s" : "");
    }
    if (s->state != SX_SOLUTION_OK) {
        sx_log(context, SX_LOG_WARNING, "the solution is %s: not all of its errors hold",
               sx_solution_state_name(s->state));
    }
}

sx_status sx_sagips_solve(const char *events, const sx_sagips_solve_options *given,
                          const char *output, const sx_context *context, sx_solution *solution) {
    const sx_sagips_solve_options o = given ? *given : (sx_sagips_solve_options){0};
    sx_status status = SX_OK;
    const sx_theory *theory = NULL;
    sxi_event_source source = {0};
    sxi_h5_writer *writer = NULL;
    sx_solution found;
    sxi_history *history = calloc(1, sizeof *history);
    if (!history) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to solve it", events);
    }
    SXI_GO(sxi_launcher_alone("sagips solve"));
    if (o.theory) {
        SXI_GO(sx_theory_find(o.theory, &theory));
    }
    SXI_GO(sxi_events_open(events, theory, &source));
    SXI_GO(sxi_h5_create(output, o.overwrite, &writer));
    SXI_GO(sxi_likelihood_solve(&source, !o.no_norms, context, &found, history));
    SXI_GO(write_parameters(&found, writer));
    SXI_GO(write_about(&found, writer));
    SXI_GO(write_history(&found, history, writer));
    SXI_GO(sxi_h5_provenance(writer, context, 1, &events));
    SXI_GO(sxi_h5_commit(&writer));
    say(&found, context);
    if (solution) {
        *solution = found;
    }
out:
    free(history);
    sxi_h5_abandon(&writer);
    sxi_events_close(&source);
    return status;
}
