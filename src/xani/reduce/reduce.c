/* SPDX-License-Identifier: Apache-2.0
 * xani reduce: the files of a run, once for the tables of their shots, which settle the bins, and once for
 * their frames. While a batch of frames is added the next one is read. */
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

/* Of a batch: it stays in the cache while it is looked at and added, and fresh memory is dear. */
static const int64_t BATCH_BYTES = (int64_t)8 << 20;

/* All of one command. */
typedef struct job {
    const sx_xani_reduce_options *options;
    const sx_context *context;
    const char *const *paths;
    int runs;
    int rank; /* of a frame */
    int64_t shape[SX_MAX_RANK], pixels;
    double low, high;       /* ps, delays of the laser-on shots */
    double i0;              /* median of the first file */
    int64_t shots, on, off; /* of all files; before the bins */
    double *edges;
    uint8_t *mask;
    bool has_tool;
    double photon_energy, *angle; /* [angle_count] */
    sx_reducer *reducer;
    sxi_check *check;
    sx_xani_reduce_summary summary;
    int64_t done;
} job;

static sx_status open_shots(const job *j, int run, sxi_shots *shots) {
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
                                    .no_time_tool = o->no_time_tool};
    return sxi_smalldata_open(j->paths[run], &fields, j->context, shots);
}

/* --- first: the tables --- */

static sx_status settle_frame(job *j, const sxi_shots *s) {
    const sx_hdf5_dataset *about = &s->frames;
    if (j->rank == 0) {
        j->rank = about->rank - 1;
        memcpy(j->shape, about->shape + 1, (size_t)j->rank * sizeof *j->shape);
        j->pixels = 1;
        for (int d = 0; d < j->rank; d++) {
            j->pixels *= j->shape[d];
        }
        return SX_OK;
    }
    if (j->rank != about->rank - 1 ||
        memcmp(j->shape, about->shape + 1, (size_t)j->rank * sizeof *j->shape) != 0) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s: its frames are shaped unlike those of %s",
                        sx_hdf5_path_of(s->file), s->detector, j->paths[0]);
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

/* A mask: as asked for, or what smalldata keeps of the detector, if that has the shape of the frames. */
static sx_status read_mask(job *j, const sxi_shots *s) {
    const sx_dtype real = SX_F64;
    char path[4096], name[SXI_SHOT_NAME + 40];
    const char *split = j->options->mask ? strstr(j->options->mask, ":/") : NULL;
    sx_status status = SX_OK;
    sx_array values = {0};
    sx_hdf5 *file = NULL;
    if (j->options->mask) {
        if (!split || (size_t)(split - j->options->mask) >= sizeof path) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "--mask %s names no dataset; write FILE:/path",
                            j->options->mask);
        }
        snprintf(path, sizeof path, "%.*s", (int)(split - j->options->mask), j->options->mask);
        snprintf(name, sizeof name, "%s", split + 1);
        SXI_TRY(sx_hdf5_open(path, &file));
    } else {
        snprintf(name, sizeof name, "/UserDataCfg/%.*s/mask", (int)strcspn(s->detector, "/"),
                 s->detector);
        if (!sxi_h5_exists(s->file, name)) {
            return SX_OK;
        }
    }
    SXI_GO(sxi_h5_read(file ? file : s->file, name, &real, &values));
    if (sx_array_count(&values) != j->pixels) {
        if (file) {
            status = SXI_FAIL(SX_ERR_SHAPE, "the mask %s has %lld pixels, a frame %lld",
                              j->options->mask, (long long)sx_array_count(&values),
                              (long long)j->pixels);
        }
        goto out; /* that of a detector of which a part was kept says nothing of the part */
    }
    j->mask = malloc((size_t)j->pixels);
    for (int64_t p = 0; j->mask && p < j->pixels; p++) {
        const bool zero = ((const double *)values.data)[p] == 0;
        j->mask[p] = file ? !zero : zero; /* LCLS: 1 is good */
    }
    status = j->mask ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for a mask");
out:
    sx_array_destroy(&values);
    sx_hdf5_close(&file);
    return status;
}

static sx_status read_motors(job *j, const sxi_shots *s) {
    const sx_xani_reduce_options *o = j->options;
    j->photon_energy = o->photon_energy;
    if (j->photon_energy == 0 && sxi_h5_exists(s->file, "ebeam/photon_energy")) {
        SXI_TRY(sxi_shots_mean(s, "ebeam/photon_energy", &j->photon_energy));
    }
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
    SXI_GO(open_shots(j, run, &s));
    SXI_GO(settle_frame(j, &s));
    SXI_GO(sxi_select(&s, j->options, &chosen));
    if (run == 0) {
        say_delay(j, &s);
        j->has_tool = s.tool_ps != NULL;
        SXI_GO(median_i0(&chosen, &j->i0));
        SXI_GO(read_mask(j, &s));
        SXI_GO(read_motors(j, &s));
    }
    if ((s.tool_ps != NULL) != j->has_tool) {
        status = SXI_FAIL(SX_ERR_MISSING,
                          "%s and %s do not both have a time tool: name it with --time-tool, or "
                          "leave it out with --no-time-tool",
                          j->paths[0], j->paths[run]);
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

/* Rows of a file that are read together. */
typedef struct batch {
    sx_array memory; /* [frames of a batch, pixels] */
    sx_hdf5_request *request;
    int64_t count;         /* shots */
    const void **frame;    /* [frames] */
    sx_shot *shot;         /* [frames] */
    sxi_check_shot *check; /* [frames] */
} batch;

typedef struct reading {
    job *job;
    const sxi_shots *shots;
    const sxi_selection *chosen;
    sx_dtype dtype;
    int64_t frames; /* of a batch */
    int64_t next;   /* row */
    batch two[2];
} reading;

static sx_dtype added_as(sx_dtype stored) {
    switch (stored) {
    case SX_U16:
        return SX_U16;
    case SX_I8:
    case SX_U8:
    case SX_I16:
    case SX_F32:
        return SX_F32;
    case SX_I32:
    case SX_U32:
    case SX_I64:
    case SX_U64:
    case SX_F64:
        break;
    }
    return SX_F64;
}

static sx_status batch_create(const reading *r, batch *b) {
    const int64_t shape[] = {r->frames, r->job->pixels};
    const size_t n = (size_t)r->frames;
    SXI_TRY(sx_array_create(r->dtype, 2, shape, &b->memory));
    b->frame = malloc(n * sizeof *b->frame);
    b->shot = malloc(n * sizeof *b->shot);
    b->check = malloc(n * sizeof *b->check);
    return b->frame && b->shot && b->check
               ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld frames", (long long)r->frames);
}

static void batch_destroy(batch *b) {
    if (b->request) {
        sx_hdf5_cancel(b->request);
        sx_hdf5_wait(&b->request, NULL);
    }
    sx_array_destroy(&b->memory);
    free(b->frame);
    free(b->shot);
    free(b->check);
}

static void take_row(const reading *r, batch *b, int64_t row, int64_t place) {
    const sxi_shots *s = r->shots;
    const sx_shot *shot = &r->chosen->shot[row];
    b->frame[b->count] =
        (const char *)b->memory.data + (size_t)(place * r->job->pixels) * sx_dtype_size(r->dtype);
    b->shot[b->count] = *shot;
    b->check[b->count] = (sxi_check_shot){.shot = *shot,
                                          .nominal_ps = s->delay_ps[row],
                                          .tool_ps = s->tool_ps ? s->tool_ps[row] : (double)NAN};
    b->count++;
}

/* Starts to read rows [row, row + n) into the batch from place `place` on. */
typedef struct boxes {
    int count;
    sx_hdf5_box *box;
    sx_array *view;
    int64_t (*start)[SX_MAX_RANK], (*size)[SX_MAX_RANK];
} boxes;

static sx_status boxes_add(const reading *r, batch *b, boxes *x, int64_t row, int64_t n,
                           int64_t place) {
    const sx_hdf5_dataset *about = &r->shots->frames;
    const int i = x->count++;
    memset(x->start[i], 0, sizeof x->start[i]);
    memcpy(x->size[i], about->shape, sizeof x->size[i]);
    x->start[i][0] = row;
    x->size[i][0] = n;
    x->box[i] =
        (sx_hdf5_box){r->shots->file, r->shots->detector, x->start[i], x->size[i], &x->view[i]};
    return sx_array_view(r->dtype, about->rank, x->size[i],
                         (char *)b->memory.data +
                             (size_t)(place * r->job->pixels) * sx_dtype_size(r->dtype),
                         &x->view[i]);
}

/* Where a chunk holds several frames all of it is decoded anyway; else only frames that are wanted are read. */
static sx_status fill_boxes(const reading *r, batch *b, boxes *x, int64_t first, int64_t end) {
    const bool whole = r->shots->frames.chunk[0] > 1;
    int64_t place = 0, run = 0;
    b->count = 0;
    for (int64_t row = first; row < end; row++) {
        const bool wanted = r->chosen->reason[row] == SX_REDUCE_USED;
        if (wanted) {
            take_row(r, b, row, whole ? row - first : place);
            place++;
            run++;
        }
        if (run > 0 && (!wanted || row + 1 == end) && !whole) {
            SXI_TRY(boxes_add(r, b, x, row + wanted - run, run, place - run));
            run = 0;
        }
    }
    return whole && b->count > 0 ? boxes_add(r, b, x, first, end - first, 0) : SX_OK;
}

/* Begins to read the next rows, if there are any. */
static sx_status batch_start(reading *r, batch *b) {
    const int64_t left = r->shots->count - r->next;
    const int64_t rows = left < r->frames ? left : r->frames;
    const size_t most = (size_t)(rows + 1);
    boxes x = {.box = malloc(most * sizeof *x.box),
               .view = malloc(most * sizeof *x.view),
               .start = malloc(most * sizeof *x.start),
               .size = malloc(most * sizeof *x.size)};
    sx_status status = SX_OK;
    b->count = 0;
    if (!x.box || !x.view || !x.start || !x.size) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to read %lld frames", (long long)rows);
        goto out;
    }
    SXI_GO(fill_boxes(r, b, &x, r->next, r->next + rows));
    r->next += rows;
    if (x.count > 0) {
        const sx_hdf5_options options = {.context = r->job->context};
        SXI_GO(sx_hdf5_start(x.count, x.box, &options, &b->request));
    }
out:
    free(x.box);
    free(x.view);
    free(x.start);
    free(x.size);
    return status;
}

static sx_status batch_add(reading *r, batch *b) {
    job *j = r->job;
    if (b->request) {
        SXI_TRY(sx_hdf5_wait(&b->request, NULL));
    }
    SXI_TRY(sxi_check_add(j->check, r->dtype, b->count, b->frame, b->check,
                          j->options->cube.i0_offset, j->context));
    SXI_TRY(sxi_reducer_add_at(j->reducer, r->dtype, b->count, b->frame, b->shot, j->context));
    j->summary.bytes += b->count * j->pixels * (int64_t)sx_dtype_size(r->shots->frames.dtype);
    return SX_OK;
}

static sx_status read_frames(reading *r) {
    job *j = r->job;
    const int64_t frame_bytes = j->pixels * (int64_t)sx_dtype_size(r->dtype);
    const int64_t chunk = r->shots->frames.chunk[0] > 1 ? r->shots->frames.chunk[0] : 1;
    const int64_t most = BATCH_BYTES / (frame_bytes * chunk);
    r->frames = chunk * (most > 1 ? most : 1);
    SXI_TRY(batch_create(r, &r->two[0]));
    SXI_TRY(batch_create(r, &r->two[1]));
    SXI_TRY(batch_start(r, &r->two[0]));
    for (int turn = 0; r->two[turn].count > 0 || r->next < r->shots->count; turn = !turn) {
        const int64_t told = r->next;
        SXI_TRY(batch_start(r, &r->two[!turn]));
        SXI_TRY(batch_add(r, &r->two[turn]));
        sx_progress(j->context, "shots", j->done + told, j->shots);
        if (sx_cancelled(j->context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "stopped; nothing was written");
        }
    }
    j->done += r->shots->count;
    return SX_OK;
}

static sx_status reduce_file(job *j, int run, const sx_reducer_options *bins) {
    sxi_shots s = {0};
    sxi_selection chosen = {0};
    sx_status status = SX_OK;
    reading r = {.job = j, .shots = &s, .chosen = &chosen};
    SXI_GO(open_shots(j, run, &s));
    SXI_GO(sxi_select(&s, j->options, &chosen));
    SXI_GO(sxi_select_bins(&s, bins, &chosen));
    for (int64_t k = 0; k < s.count; k++) {
        j->summary.reason[chosen.reason[k]]++;
    }
    r.dtype = added_as(s.frames.dtype);
    SXI_GO(read_frames(&r));
out:
    batch_destroy(&r.two[0]);
    batch_destroy(&r.two[1]);
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
    SXI_GO(sxi_h5_inputs(writer, j->context, j->runs, j->paths));
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

static sx_status run(job *j, const char *output) {
    int64_t bins = 0;
    const double began = sxi_now();
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
             .runs = runs,
             .low = HUGE_VAL,
             .high = -HUGE_VAL};
    SXI_TRY(sxi_launcher_alone("xani reduce"));
    if (runs < 1) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "there is no run to reduce");
    }
    SXI_TRY(sxi_output_check(output, j.options->overwrite, runs, paths));
    const sx_status status = run(&j, output);
    if (status == SX_OK && summary) {
        *summary = j.summary;
    }
    sx_reducer_destroy(&j.reducer);
    sxi_check_destroy(&j.check);
    free(j.edges);
    free(j.mask);
    free(j.angle);
    return status;
}
