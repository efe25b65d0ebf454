/* SPDX-License-Identifier: Apache-2.0
 * xani reduce: the files of a run, once for the tables of their shots, which settle the bins, and once for
 * their frames (reduce_frames.c). */
#include "xani/reduce/reduce.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/output.h"
#include "engine/launcher.h"
#include "io/hdf5/h5file.h"
#include "xani/reduce/reducer.h"

/* All of one command. */
typedef struct job {
    const sx_xani_reduce_options *options;
    const sx_context *context;
    const char *const *paths;
    int runs;   /* files of one run that were given one by one are one */
    int *first; /* [runs + 1] of their paths */
    int rank;   /* of a frame */
    int64_t shape[SX_MAX_RANK], pixels;
    double low, high;       /* ps, delays of the laser-on shots */
    double i0;              /* median of the first file */
    int64_t shots, on, off; /* of all files; before the bins */
    double *edges;
    uint8_t *mask;
    sxi_calibration calibration;
    bool has_tool;
    double photon_energy, *angle; /* [angle_count] */
    sx_reducer *reducer;
    sxi_check *check;
    sx_xani_reduce_summary summary;
    int64_t done;
} job;

static sx_status open_shots(const job *j, int run, bool again, sxi_shots *shots) {
    const sx_xani_reduce_options *o = j->options;
    const sxi_shot_fields fields = {.detector = o->detector,
                                    .i0 = o->i0,
                                    .delay = o->delay,
                                    .laser = o->laser,
                                    .xray = o->xray,
                                    .time_tool = o->time_tool,
                                    .time_tool_amplitude = o->time_tool_amplitude,
                                    .time_tool_width = o->time_tool_width,
                                    .delay_scale = o->delay_scale,
                                    .no_time_tool = o->no_time_tool,
                                    .laser_pattern = o->laser_pattern,
                                    .raw = o->raw != 0,
                                    .again = again};
    return sxi_shots_open(j->first[run + 1] - j->first[run], j->paths + j->first[run], &fields,
                          j->context, shots);
}

/* --- first: the tables --- */

static sx_status settle_frame(job *j, const sxi_shots *s) {
    if (j->rank == 0) {
        j->rank = s->rank;
        memcpy(j->shape, s->shape, sizeof j->shape);
        j->pixels = 1;
        for (int d = 0; d < j->rank; d++) {
            j->pixels *= j->shape[d];
        }
        return SX_OK;
    }
    if (j->rank != s->rank || memcmp(j->shape, s->shape, (size_t)j->rank * sizeof *j->shape) != 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: its frames are shaped unlike those of %s", s->path,
                        s->detector, j->paths[0]);
    }
    return SX_OK;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sx_status median_i0(const sxi_selection *chosen, double *median) {
    double *values = malloc((size_t)(chosen->count ? chosen->count : 1) * sizeof *values);
    int64_t n = 0;
    if (!values) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld shots", (long long)chosen->count);
    }
    for (int64_t k = 0; k < chosen->count; k++) {
        if (chosen->reason[k] == SX_REDUCE_USED) {
            values[n++] = fabs(chosen->shot[k].i0);
        }
    }
    qsort(values, (size_t)n, sizeof *values, by_value);
    *median = n ? values[n / 2] : 1;
    free(values);
    return SX_OK;
}

/* Delays of the laser-on shots that may be binned. */
static void note_delays(job *j, const sxi_selection *chosen) {
    const sx_reduce_window *range = &j->options->delay_range;
    for (int64_t k = 0; k < chosen->count; k++) {
        const double delay = chosen->shot[k].delay_ps;
        if (chosen->reason[k] != SX_REDUCE_USED) {
            continue;
        }
        if (!chosen->shot[k].on) {
            j->off++;
        } else if (!range->given || (delay >= range->least && delay <= range->most)) {
            j->on++;
            j->low = delay < j->low ? delay : j->low;
            j->high = delay > j->high ? delay : j->high;
        }
    }
}

/* A mask: as asked for, or that of the files. */
static sx_status read_mask(job *j, sxi_shots *s) {
    const sx_dtype real = SX_F64;
    char path[4096];
    const char *split = j->options->mask ? strstr(j->options->mask, ":/") : NULL;
    sx_status status = SX_OK;
    sx_array values = {0};
    sx_hdf5 *file = NULL;
    if (!j->options->mask) {
        j->mask = s->mask;
        s->mask = NULL;
        return SX_OK;
    }
    if (!split || (size_t)(split - j->options->mask) >= sizeof path) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "--mask %s names no dataset; write FILE:/path",
                        j->options->mask);
    }
    snprintf(path, sizeof path, "%.*s", (int)(split - j->options->mask), j->options->mask);
    SXI_TRY(sx_hdf5_open(path, &file));
    SXI_GO(sxi_h5_read(file, split + 1, &real, &values));
    if (sx_array_count(&values) != j->pixels) {
        status =
            SXI_FAIL(SX_ERR_SHAPE, "the mask %s has %lld pixels, a frame %lld", j->options->mask,
                     (long long)sx_array_count(&values), (long long)j->pixels);
        goto out;
    }
    j->mask = malloc((size_t)j->pixels);
    for (int64_t p = 0; j->mask && p < j->pixels; p++) {
        j->mask[p] = ((const double *)values.data)[p] != 0;
    }
    status = j->mask ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for a mask");
out:
    sx_array_destroy(&values);
    sx_hdf5_close(&file);
    return status;
}

/* The constants of a raw detector: a group of a file, or what smalldata keeps of the detector. */
static sx_status read_calibration(job *j, const sxi_shots *s) {
    const sx_xani_reduce_options *o = j->options;
    const char *split = o->calibration ? strstr(o->calibration, ":/") : NULL;
    char path[4096], group[SXI_SHOT_NAME + 40];
    sx_hdf5 *file = NULL, *own = NULL;
    if (!o->raw) {
        return o->calibration || o->common_mode
                   ? SXI_FAIL(SX_ERR_ARGUMENT,
                              "constants or common mode are for raw frames: say --raw, what the "
                              "detector wrote")
                   : SX_OK;
    }
    if (o->calibration) {
        if (!split || (size_t)(split - o->calibration) >= sizeof path) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "--calibration %s names no group; write FILE:/group",
                            o->calibration);
        }
        snprintf(path, sizeof path, "%.*s", (int)(split - o->calibration), o->calibration);
        SXI_TRY(sx_hdf5_open(path, &file));
        snprintf(group, sizeof group, "%.250s", strcmp(split + 1, "/") == 0 ? "" : split + 1);
    } else {
        snprintf(group, sizeof group, "UserDataCfg/%.*s", (int)strcspn(s->detector, "/"),
                 s->detector);
        char pedestal[SXI_SHOT_NAME + 48];
        snprintf(pedestal, sizeof pedestal, "%s/ped", group);
        if (!s->facility->find(s, pedestal, 0, &own, path)) {
            return SXI_FAIL(SX_ERR_MISSING,
                            "%s keeps no pedestals of %s (%s/ped): give --calibration FILE:/group",
                            s->path, s->detector, group);
        }
    }
    const sx_status status =
        sxi_calibration_read(file ? file : own, group, !file, o->raw, o->common_mode, j->rank,
                             j->shape, &j->calibration);
    sx_hdf5_close(&file);
    return status;
}

/* What cannot be calibrated is masked. */
static sx_status mask_bad(job *j) {
    if (!j->options->raw) {
        return SX_OK;
    }
    j->mask = j->mask ? j->mask : calloc((size_t)j->pixels, 1);
    if (!j->mask) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a mask");
    }
    for (int64_t p = 0; p < j->pixels; p++) {
        j->mask[p] |= j->calibration.bad[p];
    }
    return SX_OK;
}

static sx_status read_motors(job *j, const sxi_shots *s) {
    const sx_xani_reduce_options *o = j->options;
    j->photon_energy = o->photon_energy != 0 ? o->photon_energy : s->photon_energy;
    j->angle = calloc((size_t)(o->angle_count ? o->angle_count : 1), sizeof *j->angle);
    for (int i = 0; j->angle && i < o->angle_count; i++) {
        j->angle[i] = o->angles[i].value;
        if (o->angles[i].field) {
            SXI_TRY(sxi_shots_mean(s, o->angles[i].field, &j->angle[i]));
        }
    }
    return j->angle ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for angles");
}

static void say_delay(const job *j, const sxi_shots *s) {
    if (s->tool_ps) {
        sx_log(j->context, SX_LOG_INFO, "delay = %s (ps) %s %s; I0 is %s", s->delay_name,
               j->options->time_tool_sign < 0 ? "-" : "+", s->tool_name, s->i0_name);
    } else {
        sx_log(j->context, SX_LOG_INFO, "delay = %s (ps), no time tool; I0 is %s", s->delay_name,
               s->i0_name);
    }
}

static sx_status look_through(job *j, int run) {
    sxi_shots s = {0};
    sxi_selection chosen = {0};
    sx_status status = SX_OK;
    SXI_GO(open_shots(j, run, false, &s));
    SXI_GO(settle_frame(j, &s));
    SXI_GO(sxi_select(&s, j->options, &chosen));
    if (run == 0) {
        say_delay(j, &s);
        j->has_tool = s.tool_ps != NULL;
        SXI_GO(median_i0(&chosen, &j->i0));
        SXI_GO(read_mask(j, &s));
        SXI_GO(read_calibration(j, &s));
        SXI_GO(mask_bad(j));
        SXI_GO(read_motors(j, &s));
    }
    if ((s.tool_ps != NULL) != j->has_tool) {
        status = SXI_FAIL(SX_ERR_MISSING,
                          "%s and %s do not both have a time tool: name it with --time-tool, or "
                          "leave it out with --no-time-tool",
                          j->paths[0], s.path);
        goto out;
    }
    j->shots += s.count;
    note_delays(j, &chosen);
out:
    sxi_selection_free(&chosen);
    sxi_shots_close(&s);
    return status;
}

/* --- the bins --- */

static sx_status settle_edges(job *j, int64_t *bins) {
    const sx_xani_reduce_options *o = j->options;
    const double width = o->bin_width;
    if (j->on == 0 || j->off == 0) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "of %lld shots %lld are left with laser on and %lld with laser off: check "
                        "codes, windows and --delay-range",
                        (long long)j->shots, (long long)j->on, (long long)j->off);
    }
    if (o->edge_count > 0) {
        *bins = o->edge_count - 1;
        j->edges = malloc((size_t)o->edge_count * sizeof *j->edges);
        if (j->edges) {
            memcpy(j->edges, o->edges, (size_t)o->edge_count * sizeof *j->edges);
        }
    } else {
        if (!(width > 0)) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "bins of %g ps; say how wide they are", width);
        }
        const double first = floor((o->delay_range.given ? o->delay_range.least : j->low) / width);
        const double last =
            o->delay_range.given ? ceil(o->delay_range.most / width) : floor(j->high / width) + 1;
        if (!(last - first >= 1 && last - first <= 1e6)) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "delays from %g to %g ps make %g bins of %g ps; 1 to 1e6 "
                            "are possible, see --bin-width and --delay-range",
                            j->low, j->high, last - first, width);
        }
        *bins = (int64_t)(last - first);
        j->edges = malloc((size_t)(*bins + 1) * sizeof *j->edges);
        for (int64_t b = 0; j->edges && b <= *bins; b++) {
            j->edges[b] = (first + (double)b) * width;
        }
    }
    return j->edges ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld bins", (long long)*bins);
}

/* 1 for I0 of 1/4 to 2^16, and from there in steps as wide, so that runs of one experiment get the same. */
static double i0_scale(double median) {
    const double steps = median > 0 ? floor((log2(median) + 2) / 18) : 0;
    return ldexp(1, 18 * (int)steps);
}

static sx_reducer_options bins_of(const job *j, int64_t bins) {
    sx_reducer_options o = {.rank = j->rank,
                            .bins = bins,
                            .edges = j->edges,
                            .mask = j->mask,
                            .off = j->options->off,
                            .scale = j->options->scale,
                            .i0_scale =
                                j->options->i0_scale != 0 ? j->options->i0_scale : i0_scale(j->i0)};
    memcpy(o.shape, j->shape, sizeof o.shape);
    return o;
}

/* --- then: the frames --- */

static sx_status reduce_file(job *j, int run, const sx_reducer_options *bins) {
    sxi_shots s = {0};
    sxi_selection chosen = {0};
    sx_status status = SX_OK;
    sxi_frames frames = {.shots = &s,
                         .chosen = &chosen,
                         .reducer = j->reducer,
                         .check = j->check,
                         .i0_offset = j->options->cube.i0_offset,
                         .calibration = j->options->raw ? &j->calibration : NULL,
                         .context = j->context,
                         .before = j->done,
                         .all = j->shots};
    SXI_GO(open_shots(j, run, true, &s));
    SXI_GO(sxi_select(&s, j->options, &chosen));
    SXI_GO(sxi_select_bins(&s, bins, &chosen));
    for (int64_t k = 0; k < s.count; k++) {
        j->summary.reason[chosen.reason[k]]++;
    }
    SXI_GO(sxi_frames_add(&frames));
    j->summary.bytes += frames.bytes;
    j->done += s.count;
out:
    sxi_selection_free(&chosen);
    sxi_shots_close(&s);
    return status;
}

/* --- the file --- */

static sx_status write_number(sxi_h5_writer *writer, const char *name, double value,
                              const char *unit, const char *sentence) {
    char path[SXI_SHOT_NAME];
    sx_array array;
    snprintf(path, sizeof path, "/cube/%s", name);
    SXI_TRY(sx_array_create(SX_F64, 0, NULL, &array));
    *(double *)array.data = value;
    const sx_status status = sxi_h5_write(writer, path, &array, unit, sentence);
    sx_array_destroy(&array);
    return status;
}

static sx_status write_reasons(const job *j, sxi_h5_writer *writer) {
    static const char *const words[] = {
#define REASON_WORDS(name, text) text,
        SX_REDUCE_REASON_LIST(REASON_WORDS)
#undef REASON_WORDS
    };
    const sx_xani_reduce_summary *s = &j->summary;
    const double checks[] = {s->i0_correlation, s->on_change,        s->off_change, s->sharpness,
                             s->tool_slope,     s->tool_slope_error, s->tool_mean,  s->tool_rms};
    static const char *const names[] = {
        "i0_correlation",        "on_change",      "off_change",   "sharpness", "time_tool_slope",
        "time_tool_slope_error", "time_tool_mean", "time_tool_rms"};
    SXI_TRY(sxi_h5_set_texts(writer, "/cube/sums", "shot_reasons", SX_REDUCE_REASONS, words));
    SXI_TRY(sxi_h5_set_ints(writer, "/cube/sums", "shots", SX_REDUCE_REASONS, s->reason));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SXI_TRY(sxi_h5_set_reals(writer, "/cube/sums", names[i], 1, &checks[i]));
    }
    for (int i = 0; i < s->warnings; i++) {
        const char name[] = {'w', 'a', 'r', 'n', 'i', 'n', 'g', '_', (char)('0' + i), 0};
        SXI_TRY(sxi_h5_set_text(writer, "/cube/sums", name, s->warning[i]));
    }
    return SX_OK;
}

static sx_status write_cube(const job *j, const char *output) {
    const sx_xani_reduce_options *o = j->options;
    sx_status status = SX_OK;
    sxi_h5_writer *writer = NULL;
    SXI_GO(sxi_h5_create(output, o->overwrite, &writer));
    SXI_GO(sxi_reducer_write(j->reducer, &o->cube, writer, j->context));
    if (j->photon_energy > 0) {
        SXI_GO(write_number(writer, "photon_energy", j->photon_energy, "eV",
                            "photon energy of the X-rays"));
    }
    for (int i = 0; i < o->angle_count; i++) {
        SXI_GO(
            write_number(writer, o->angles[i].name, j->angle[i], "deg", "angle of the goniometer"));
    }
    SXI_GO(write_reasons(j, writer));
    SXI_GO(sxi_h5_inputs(writer, j->context, j->first[j->runs], j->paths));
    SXI_GO(sxi_h5_provenance(writer, j->context, 0, NULL));
    SXI_GO(sxi_h5_commit(&writer));
out:
    sxi_h5_abandon(&writer);
    return status;
}

static sx_status summarise(job *j) {
    sx_xani_reduce_summary *s = &j->summary;
    const sx_reducer_counts counts = sx_reducer_count(j->reducer);
    sxi_reduction m = {0};
    s->shots = j->shots;
    s->on = counts.on;
    s->off = counts.off;
    s->bins = j->reducer->bins;
    s->delay_first = s->delay_last = (double)NAN;
    SXI_TRY(sxi_reduction_open(j->reducer, &j->options->cube, &m));
    s->i0_offset = m.offset;
    for (int64_t b = 0; b < s->bins; b++) {
        if (j->reducer->slot[b].n == 0) {
            s->empty_bins++;
            continue;
        }
        s->delay_last = sxi_reduction_delay(&m, b);
        s->delay_first = isnan(s->delay_first) ? s->delay_last : s->delay_first;
    }
    sxi_reduction_close(&m);
    sxi_check_tell(j->check, j->context, s);
    return SX_OK;
}

static sx_status join_paths(job *j, int count) {
    j->first = calloc((size_t)count + 1, sizeof *j->first);
    if (!j->first) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d paths", count);
    }
    while (j->first[j->runs] < count) {
        const int at = j->first[j->runs++];
        j->first[j->runs] = at + sxi_shots_joined(count - at, j->paths + at);
    }
    return SX_OK;
}

static sx_status run(job *j, int count, const char *output) {
    int64_t bins = 0;
    const double began = sxi_now();
    SXI_TRY(join_paths(j, count));
    for (int i = 0; i < j->runs; i++) {
        SXI_TRY(look_through(j, i));
    }
    SXI_TRY(settle_edges(j, &bins));
    const sx_reducer_options options = bins_of(j, bins);
    SXI_TRY(sx_reducer_create(&options, &j->reducer));
    SXI_TRY(sxi_check_create(&options, j->has_tool, j->options->time_tool_sign < 0 ? -1 : 1,
                             &j->check));
    sx_progress(j->context, "shots", 0, j->shots);
    for (int i = 0; i < j->runs; i++) {
        SXI_TRY(reduce_file(j, i, &options));
    }
    j->summary.seconds = sxi_now() - began;
    SXI_TRY(summarise(j));
    return write_cube(j, output);
}

sx_status sx_xani_reduce(int runs, const char *const *paths, const sx_xani_reduce_options *options,
                         const char *output, const sx_context *context,
                         sx_xani_reduce_summary *summary) {
    static const sx_xani_reduce_options defaults;
    job j = {.options = options ? options : &defaults,
             .context = context,
             .paths = paths,
             .low = HUGE_VAL,
             .high = -HUGE_VAL};
    SXI_TRY(sxi_launcher_alone("xani reduce"));
    if (runs < 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "there is no run to reduce");
    }
    SXI_TRY(sxi_output_check(output, j.options->overwrite, runs, paths));
    SXI_TRY(sxi_inputs_differ(runs, paths));
    const sx_status status = run(&j, runs, output);
    if (status == SX_OK && summary) {
        *summary = j.summary;
    }
    sx_reducer_destroy(&j.reducer);
    sxi_check_destroy(&j.check);
    sxi_calibration_free(&j.calibration);
    free(j.first);
    free(j.edges);
    free(j.mask);
    free(j.angle);
    return status;
}
