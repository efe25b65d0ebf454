/* SPDX-License-Identifier: Apache-2.0
 * A reducer as cube.h5 and back. Bins are worked out and written one after the other, so that the
 * cube itself is never held. */
#include "xani/reduce/reducer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define SUMS "/cube/sums/"

/* What is kept for every slot and pixel, and for every slot; names follow "on_" or "off_". */
static const struct {
    const char *name, *sentence;
    double quantum;
} PIXEL_SUMS[SXI_SUMS] =
    {
        {"", "sum of the pixel over the shots", SXI_QUANTUM_X},
        {"_squares", "sum of its square", SXI_QUANTUM_2},
        {"_times_i0", "sum of its product with I0", SXI_QUANTUM_2},
},
  LOST_SUMS[SXI_LOST] = {
      {"_lost_shots", "shots in which the pixel has no value", 1},
      {"_lost_i0", "sum of I0 over those", SXI_QUANTUM_I0},
      {"_lost_i0_squares", "sum of I0^2 over those", SXI_QUANTUM_2},
};

enum { SLOT_SHOTS, SLOT_I0, SLOT_I0_SQUARES, SLOT_DELAY, SLOT_SUMS };
static const struct {
    const char *name, *sentence;
    double quantum;
} SLOT_SUM[SLOT_SUMS] = {
    {"_shots", "shots", 1},
    {"_i0", "sum of I0 over the shots", SXI_QUANTUM_I0},
    {"_i0_squares", "sum of I0^2 over the shots", SXI_QUANTUM_2},
    {"_delay", "sum of the delays of the shots, ps", SXI_QUANTUM_T},
};

/* One side: laser on or off. */
typedef struct side {
    const char *name;
    int64_t first, count; /* slots */
} side;

static void sides_of(const sx_reducer *r, side sides[2]) {
    sides[0] = (side){"on", 0, r->bins};
    sides[1] = (side){"off", r->bins, r->slots - r->bins};
}

static bool side_lost(const sx_reducer *r, const side *s) {
    bool any = false;
    for (int64_t k = s->first; k < s->first + s->count; k++) {
        any = any || r->slot[k].lost[0];
    }
    return any;
}

static int64_t *slot_sum(sxi_slot *slot, int kind) {
    int64_t *const place[SLOT_SUMS] = {&slot->n, &slot->i, &slot->ii, &slot->t};
    return place[kind];
}

/* [count] and the frame behind it. */
static int stacked(const sx_reducer *r, int64_t count, int64_t shape[SX_MAX_RANK]) {
    shape[0] = count;
    memcpy(shape + 1, r->shape, (size_t)r->rank * sizeof *shape);
    return r->rank + 1;
}

/* --- writing --- */

static sx_status write_plane(sxi_h5_writer *writer, const sx_reducer *r, const char *name,
                             sx_dtype dtype, int64_t at, void *values) {
    int64_t shape[SX_MAX_RANK], start[SX_MAX_RANK] = {at};
    sx_array view;
    const int rank = stacked(r, 1, shape);
    SXI_TRY(sx_array_view(dtype, rank, shape, values, &view));
    return sxi_h5_write_box(writer, name, start, &view);
}

static sx_status write_pixel_sum(sxi_h5_writer *writer, const sx_reducer *r, const side *s,
                                 const char *suffix, const char *sentence, double quantum, int k,
                                 bool lost) {
    int64_t shape[SX_MAX_RANK];
    char name[80];
    const int rank = stacked(r, s->count, shape);
    snprintf(name, sizeof name, SUMS "%s%s", s->name, suffix);
    SXI_TRY(sxi_h5_dataset_create(writer, name, SX_I64, rank, shape, "", sentence));
    SXI_TRY(sxi_h5_set_reals(writer, name, "quantum", 1, &quantum));
    for (int64_t i = 0; i < s->count; i++) {
        sxi_slot *slot = &r->slot[s->first + i];
        int64_t *values = lost ? slot->lost[k] : slot->sum[k];
        if (values) {
            SXI_TRY(write_plane(writer, r, name, SX_I64, i, values));
        }
    }
    return SX_OK;
}

static sx_status write_slot_sums(sxi_h5_writer *writer, const sx_reducer *r, const side *s) {
    for (int k = 0; k < SLOT_SUMS; k++) {
        char name[80];
        sx_array values;
        snprintf(name, sizeof name, SUMS "%s%s", s->name, SLOT_SUM[k].name);
        SXI_TRY(sx_array_create(SX_I64, 1, &s->count, &values));
        for (int64_t i = 0; i < s->count; i++) {
            ((int64_t *)values.data)[i] = *slot_sum(&r->slot[s->first + i], k);
        }
        sx_status status = sxi_h5_write(writer, name, &values, "", SLOT_SUM[k].sentence);
        sx_array_destroy(&values);
        SXI_TRY(status);
        SXI_TRY(sxi_h5_set_reals(writer, name, "quantum", 1, &SLOT_SUM[k].quantum));
    }
    return SX_OK;
}

static sx_status write_sums(sxi_h5_writer *writer, const sx_reducer *r) {
    const double scales[] = {r->scale, r->i0_scale};
    const int64_t counts[] = {r->outside, r->not_known, r->missing};
    side sides[2];
    sx_array view;
    sides_of(r, sides);
    for (int i = 0; i < 2; i++) {
        const side *s = &sides[i];
        for (int k = 0; k < SXI_SUMS; k++) {
            SXI_TRY(write_pixel_sum(writer, r, s, PIXEL_SUMS[k].name, PIXEL_SUMS[k].sentence,
                                    PIXEL_SUMS[k].quantum, k, false));
        }
        for (int k = 0; side_lost(r, s) && k < SXI_LOST; k++) {
            SXI_TRY(write_pixel_sum(writer, r, s, LOST_SUMS[k].name, LOST_SUMS[k].sentence,
                                    LOST_SUMS[k].quantum, k, true));
        }
        SXI_TRY(write_slot_sums(writer, r, s));
    }
    SXI_TRY(sx_array_view(SX_U8, r->rank, r->shape, r->mask, &view));
    SXI_TRY(sxi_h5_write(writer, SUMS "mask", &view, "1", "pixels left out of the sums: not 0"));
    SXI_TRY(sxi_h5_set_reals(writer, "/cube/sums", "scales", 2, scales));
    SXI_TRY(sxi_h5_set_ints(writer, "/cube/sums", "left_out", 3, counts));
    SXI_TRY(sxi_h5_set_text(writer, "/cube/sums", "laser_off",
                            r->off == SX_REDUCE_OFF_BINNED ? "binned" : "pooled"));
    return sxi_h5_set_text(writer, "/cube/sums", "meaning",
                           "a sum is the whole number times its quantum, times scales[0] for each "
                           "pixel value and scales[1] for each I0 in it; left_out: shots outside "
                           "the edges, shots without I0 or delay, values missing");
}

static const char *axis_name(const sx_reducer *r, int d) {
    static const char *const names[] = {"panel", "segment", "y", "x"};
    return names[4 - r->rank + d];
}

static sx_status write_scales(sxi_h5_writer *writer, const sx_reducer *r) {
    static const char *const words[] = {"panel", "segment", "row (pixel)", "column (pixel)"};
    for (int d = 0; d < r->rank; d++) {
        char name[40];
        sx_array numbers;
        snprintf(name, sizeof name, "/cube/%s", axis_name(r, d));
        SXI_TRY(sx_array_create(SX_I64, 1, &r->shape[d], &numbers));
        for (int64_t i = 0; i < r->shape[d]; i++) {
            ((int64_t *)numbers.data)[i] = i;
        }
        const sx_status status = sxi_h5_write(writer, name, &numbers, "", words[4 - r->rank + d]);
        sx_array_destroy(&numbers);
        SXI_TRY(status);
    }
    return SX_OK;
}

static sx_status attach_scales(sxi_h5_writer *writer, const sx_reducer *r, const char *dataset,
                               bool delays) {
    if (delays) {
        SXI_TRY(sxi_h5_attach_scale(writer, dataset, 0, "/cube/delay"));
    }
    for (int d = 0; d < r->rank; d++) {
        char name[40];
        snprintf(name, sizeof name, "/cube/%s", axis_name(r, d));
        SXI_TRY(sxi_h5_attach_scale(writer, dataset, d + delays, name));
    }
    return SX_OK;
}

/* Delays, shots and edges. */
static sx_status write_axis(sxi_h5_writer *writer, const sxi_reduction *m) {
    const sx_reducer *r = m->reducer;
    const int64_t borders = r->bins + 1;
    sx_status status = SX_OK;
    sx_array delay = {0}, count = {0}, edges;
    SXI_GO(sx_array_create(SX_F64, 1, &r->bins, &delay));
    SXI_GO(sx_array_create(SX_I64, 1, &r->bins, &count));
    for (int64_t b = 0; b < r->bins; b++) {
        ((double *)delay.data)[b] = sxi_reduction_delay(m, b);
        ((int64_t *)count.data)[b] = r->slot[b].n;
    }
    SXI_GO(sx_array_view(SX_F64, 1, &borders, r->edges, &edges));
    SXI_GO(sxi_h5_write(writer, "/cube/delay", &delay, "ps",
                        "mean delay of the shots of the bin, its middle without shots"));
    SXI_GO(sxi_h5_write(writer, "/cube/count", &count, "1", "laser-on shots of the bin"));
    SXI_GO(sxi_h5_write(writer, "/cube/bin_edges", &edges, "ps", "edges of the delay bins"));
    SXI_GO(sxi_h5_attach_scale(writer, "/cube/count", 0, "/cube/delay"));
out:
    sx_array_destroy(&delay);
    sx_array_destroy(&count);
    return status;
}

static sx_status write_off(sxi_h5_writer *writer, const sxi_reduction *m) {
    const sx_reducer *r = m->reducer;
    sx_status status = SX_OK;
    sx_array mean = {0}, error = {0}, mask = {0};
    SXI_GO(sx_array_create(SX_F32, r->rank, r->shape, &mean));
    SXI_GO(sx_array_create(SX_F32, r->rank, r->shape, &error));
    SXI_GO(sx_array_create(SX_U8, r->rank, r->shape, &mask));
    sxi_reduction_off(m, mean.data, error.data, mask.data);
    SXI_GO(sxi_h5_write(writer, "/cube/off_mean", &mean, "",
                        "laser-off image, mean of a shot, in the units of the detector"));
    SXI_GO(sxi_h5_write(writer, "/cube/off_error", &error, "",
                        r->off == SX_REDUCE_OFF_POOLED
                            ? "1 sigma of off_mean; common to all bins, so not in sigma"
                            : "1 sigma of off_mean; bins have their own laser-off shots, and their "
                              "noise is in sigma"));
    SXI_GO(sxi_h5_write(writer, "/cube/mask", &mask, "1",
                        "0 good; not 0: masked, or without laser-off intensity"));
    SXI_GO(attach_scales(writer, r, "/cube/off_mean", false));
    SXI_GO(attach_scales(writer, r, "/cube/off_error", false));
    SXI_GO(attach_scales(writer, r, "/cube/mask", false));
out:
    sx_array_destroy(&mean);
    sx_array_destroy(&error);
    sx_array_destroy(&mask);
    return status;
}

static sx_status write_signal(sxi_h5_writer *writer, const sxi_reduction *m,
                              const sx_context *context) {
    const sx_reducer *r = m->reducer;
    int64_t shape[SX_MAX_RANK];
    const int rank = stacked(r, r->bins, shape);
    SXI_TRY(sxi_h5_dataset_create(writer, "/cube/signal", SX_F32, rank, shape, "1",
                                  "relative change of the intensity, laser on / laser off - 1"));
    SXI_TRY(sxi_h5_dataset_create(writer, "/cube/sigma", SX_F32, rank, shape, "1",
                                  "1 sigma of signal, without the noise that bins share"));
    SXI_TRY(attach_scales(writer, r, "/cube/signal", true));
    SXI_TRY(attach_scales(writer, r, "/cube/sigma", true));
    float *memory = malloc((size_t)r->pixels * 2 * sizeof *memory);
    if (!memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a bin of %lld pixels", (long long)r->pixels);
    }
    sx_status status = SX_OK;
    for (int64_t b = 0; b < r->bins; b++) {
        if (sx_cancelled(context)) {
            status = SXI_FAIL(SX_ERR_CANCELLED, "stopped; nothing was written");
            goto out;
        }
        sxi_reduction_bin(m, b, memory, memory + r->pixels);
        SXI_GO(write_plane(writer, r, "/cube/signal", SX_F32, b, memory));
        SXI_GO(write_plane(writer, r, "/cube/sigma", SX_F32, b, memory + r->pixels));
    }
out:
    free(memory);
    return status;
}

static sx_status write_attributes(sxi_h5_writer *writer, const sxi_reduction *m) {
    const sx_reducer *r = m->reducer;
    const char *axes[SX_MAX_RANK] = {"delay"};
    for (int d = 0; d < r->rank; d++) {
        axes[d + 1] = axis_name(r, d);
    }
    SXI_TRY(sxi_h5_set_text(writer, "/", "NX_class", "NXroot"));
    SXI_TRY(sxi_h5_set_text(writer, "/", "default", "cube"));
    SXI_TRY(sxi_h5_set_text(writer, "/cube", "NX_class", "NXdata"));
    SXI_TRY(sxi_h5_set_text(writer, "/cube", "signal", "signal"));
    SXI_TRY(sxi_h5_set_texts(writer, "/cube", "axes", r->rank + 1, axes));
    SXI_TRY(sxi_h5_set_text(writer, "/cube/signal", "errors", "sigma"));
    SXI_TRY(sxi_h5_set_text(writer, "/cube", "sigma_from",
                            m->sigma == SX_REDUCE_SIGMA_BIN ? "bin" : "pooled"));
    return sxi_h5_set_reals(writer, "/cube", "i0_offset", 1, &m->offset);
}

sx_status sxi_reducer_write(const sx_reducer *r, const sx_cube_options *options,
                            sxi_h5_writer *writer, const sx_context *context) {
    sxi_reduction m = {0};
    sx_status status = SX_OK;
    SXI_GO(sxi_reduction_open(r, options, &m));
    SXI_GO(write_scales(writer, r));
    SXI_GO(write_axis(writer, &m));
    SXI_GO(write_off(writer, &m));
    SXI_GO(write_signal(writer, &m, context));
    SXI_GO(write_attributes(writer, &m));
    SXI_GO(write_sums(writer, r));
out:
    sxi_reduction_close(&m);
    return status;
}

sx_status sx_reducer_save(const sx_reducer *r, const sx_cube_options *options, const char *path,
                          bool overwrite, const sx_context *context) {
    sx_status status = SX_OK;
    sxi_h5_writer *writer = NULL;
    SXI_GO(sxi_h5_create(path, overwrite, &writer));
    SXI_GO(sxi_reducer_write(r, options, writer, context));
    SXI_GO(sxi_h5_provenance(writer, context, 0, NULL));
    SXI_GO(sxi_h5_commit(&writer));
out:
    sxi_h5_abandon(&writer);
    return status;
}

/* --- reading --- */

static sx_status read_into(sx_hdf5 *file, const char *name, int rank, const int64_t *shape,
                           int64_t first, void *values) {
    sx_hdf5_dataset about;
    int64_t start[SX_MAX_RANK] = {first};
    sx_array view;
    SXI_TRY(sx_hdf5_describe(file, name, &about));
    bool same = about.rank == rank && about.numeric && about.dtype == SX_I64;
    for (int d = 0; same && d < rank; d++) {
        same = start[d] + shape[d] <= about.shape[d] && (d == 0 || about.shape[d] == shape[d]);
    }
    if (!same) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s:%s does not have the shape of the sums of this cube",
                        sx_hdf5_path_of(file), name);
    }
    SXI_TRY(sx_array_view(SX_I64, rank, shape, values, &view));
    return sxi_h5_read_box(file, name, start, shape, &view);
}

static sx_status read_side(sx_hdf5 *file, sx_reducer *r, const side *s) {
    int64_t shape[SX_MAX_RANK];
    char name[80];
    const int rank = stacked(r, 1, shape);
    snprintf(name, sizeof name, SUMS "%s%s", s->name, LOST_SUMS[0].name);
    const bool lost = sxi_h5_exists(file, name);
    for (int64_t i = 0; i < s->count; i++) {
        sxi_slot *slot = &r->slot[s->first + i];
        const int64_t one = 1;
        for (int k = 0; k < SLOT_SUMS; k++) {
            snprintf(name, sizeof name, SUMS "%s%s", s->name, SLOT_SUM[k].name);
            SXI_TRY(read_into(file, name, 1, &one, i, slot_sum(slot, k)));
        }
        for (int k = 0; k < SXI_SUMS; k++) {
            snprintf(name, sizeof name, SUMS "%s%s", s->name, PIXEL_SUMS[k].name);
            SXI_TRY(read_into(file, name, rank, shape, i, slot->sum[k]));
            slot->bound[k] = HUGE_VAL; /* to be measured when it matters */
        }
        for (int k = 0; lost && k < SXI_LOST; k++) {
            SXI_TRY(sxi_slot_lose(r, slot));
            snprintf(name, sizeof name, SUMS "%s%s", s->name, LOST_SUMS[k].name);
            SXI_TRY(read_into(file, name, rank, shape, i, slot->lost[k]));
        }
    }
    return SX_OK;
}

static sx_status read_all(sx_hdf5 *file, const sx_reducer_options *options, sx_reducer **reducer) {
    side sides[2];
    double left_out[3];
    SXI_TRY(sx_reducer_create(options, reducer));
    sx_reducer *r = *reducer;
    sides_of(r, sides);
    SXI_TRY(read_side(file, r, &sides[0]));
    SXI_TRY(read_side(file, r, &sides[1]));
    SXI_TRY(sxi_h5_attribute_reals(file, "/cube/sums", "left_out", 3, left_out));
    r->outside = (int64_t)left_out[0];
    r->not_known = (int64_t)left_out[1];
    r->missing = (int64_t)left_out[2];
    return SX_OK;
}

sx_status sxi_reducer_read(sx_hdf5 *file, sx_reducer **reducer) {
    const sx_dtype real = SX_F64, byte = SX_U8;
    sx_status status = SX_OK;
    sx_array mask = {0}, edges = {0};
    sx_reducer *r = NULL;
    double scales[2];
    char off[16];
    if (!sxi_h5_exists(file, "/cube/sums/on")) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s holds no /cube/sums, which xani reduce writes: a cube without them "
                        "cannot be added to another",
                        sx_hdf5_path_of(file));
    }
    SXI_GO(sxi_h5_read(file, SUMS "mask", &byte, &mask));
    SXI_GO(sxi_h5_read(file, "/cube/bin_edges", &real, &edges));
    SXI_GO(sxi_h5_attribute_reals(file, "/cube/sums", "scales", 2, scales));
    SXI_GO(sxi_h5_attribute_text(file, "/cube/sums", "laser_off", off, sizeof off));
    sx_reducer_options options = {.rank = mask.rank,
                                  .bins = edges.shape[0] - 1,
                                  .edges = edges.data,
                                  .mask = mask.data,
                                  .off = strcmp(off, "binned") == 0 ? SX_REDUCE_OFF_BINNED
                                                                    : SX_REDUCE_OFF_POOLED,
                                  .scale = scales[0],
                                  .i0_scale = scales[1]};
    memcpy(options.shape, mask.shape, sizeof options.shape);
    SXI_GO(read_all(file, &options, &r));
    *reducer = r;
    r = NULL;
out:
    sx_reducer_destroy(&r);
    sx_array_destroy(&mask);
    sx_array_destroy(&edges);
    return status;
}

sx_status sx_reducer_load(const char *path, const sx_context *context, sx_reducer **reducer) {
    sx_status status = SX_OK;
    sx_hdf5 *file = NULL;
    *reducer = NULL;
    SXI_GO(sx_hdf5_open(path, &file));
    sxi_h5_context_set(file, context);
    SXI_GO(sxi_reducer_read(file, reducer));
out:
    sx_hdf5_close(&file);
    return status;
}
