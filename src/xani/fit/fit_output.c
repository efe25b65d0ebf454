/* SPDX-License-Identifier: Apache-2.0
 * fit.h5: one table says what is computed and written. */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "engine/darray.h"
#include "xani/fit/fit.h"

typedef enum kind { MODE, PIXEL, BYTE, COUNT, NUMBER, CORRECTED } kind;
typedef enum when {
    ALWAYS,
    WITH_LINEAR,
    WITH_EXP,
    WITH_IRF,
    SINGLE
} when; /* SINGLE: of one pixel, for its summary */

typedef struct field {
    const char *name;
    kind kind;
    when when;
    size_t offset; /* in sx_dcos_mode for MODE, else in sx_dcos_fit */
    const char *unit;
    const char *sentence;
} field;

#define OF_MODE(member) offsetof(sx_dcos_mode, member)
#define OF_FIT(member) offsetof(sx_dcos_fit, member)

static const field FIELDS[] = {
    {"frequency", MODE, ALWAYS, OF_MODE(frequency), "THz",
     "frequency f of each mode, increasing: that of the intensity, which is twice that of the "
     "phonon where the motion is squeezed"},
    {"frequency_errors", MODE, ALWAYS, OF_MODE(frequency_error), "THz", "1 sigma of frequency"},
    {"amplitude", MODE, ALWAYS, OF_MODE(amplitude), "1",
     "amplitude A >= 0 of each mode at time zero, relative intensity change"},
    {"amplitude_errors", MODE, ALWAYS, OF_MODE(amplitude_error), "1", "1 sigma of amplitude"},
    {"decay", MODE, ALWAYS, OF_MODE(decay), "1/ps", "decay rate g of each mode"},
    {"decay_errors", MODE, ALWAYS, OF_MODE(decay_error), "1/ps", "1 sigma of decay"},
    {"phase", MODE, ALWAYS, OF_MODE(phase), "rad",
     "phase p of each mode at time zero, in (-pi, pi]"},
    {"phase_errors", MODE, ALWAYS, OF_MODE(phase_error), "rad", "1 sigma of phase"},
    {"amplitude_corrected", CORRECTED, WITH_IRF, OF_MODE(amplitude), "1",
     "amplitude divided by the response of pulse length and delay bin at the frequency"},
    {"amplitude_corrected_errors", CORRECTED, WITH_IRF, OF_MODE(amplitude_error), "1",
     "1 sigma of amplitude_corrected"},
    {"offset", PIXEL, ALWAYS, OF_FIT(offset), "1", "constant c of the background at time zero"},
    {"offset_errors", PIXEL, ALWAYS, OF_FIT(offset_error), "1",
     "1 sigma of offset; the noise of a pooled laser-off image, common to all delays, is not in "
     "it"},
    {"background_slope", PIXEL, WITH_LINEAR, OF_FIT(background_slope), "1/ps",
     "slope of the linear background"},
    {"background_slope_errors", PIXEL, WITH_LINEAR, OF_FIT(background_slope_error), "1/ps",
     "1 sigma of background_slope"},
    {"background_amplitude", PIXEL, WITH_EXP, OF_FIT(background_amplitude), "1",
     "amplitude of the exponential background at time zero"},
    {"background_amplitude_errors", PIXEL, WITH_EXP, OF_FIT(background_amplitude_error), "1",
     "1 sigma of background_amplitude"},
    {"background_time", PIXEL, WITH_EXP, OF_FIT(background_time), "ps",
     "time constant of the exponential background"},
    {"background_time_errors", PIXEL, WITH_EXP, OF_FIT(background_time_error), "ps",
     "1 sigma of background_time"},
    {"chi2", PIXEL, ALWAYS, OF_FIT(chi2), "1",
     "sum of squares over degrees of freedom: with sigma in units of sigma^2, without sigma the "
     "residual variance in units of the signal squared"},
    {"frequency_other", PIXEL, ALWAYS, OF_FIT(frequency_other), "THz",
     "frequency of a second minimum that fits as well (delta chi2 < 4); NaN where there is none"},
    {"modes", BYTE, ALWAYS, OF_FIT(modes), "1", "number of modes"},
    {"state", BYTE, ALWAYS, OF_FIT(state), "1", "what became of the pixel, see state_names"},
    {"iterations", COUNT, ALWAYS, OF_FIT(iterations), "1",
     "evaluations of the model in the last fit"},
    {"used", NUMBER, SINGLE, OF_FIT(used), "", ""},
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS };
_Static_assert(sizeof FIELDS / sizeof *FIELDS <= SXI_FIT_MAPS_MOST,
               "there is an array for every field");

static int64_t rows_of(const sxi_fit_maps *maps) {
    return maps->frame->segments * maps->frame->rows;
}

static bool wanted(const sxi_fit_maps *maps, const field *f) {
    switch (f->when) {
    case ALWAYS:
        return true;
    case WITH_LINEAR:
        return maps->options->dcos.background == SX_BACKGROUND_LINEAR;
    case WITH_EXP:
        return maps->options->dcos.background == SX_BACKGROUND_EXP;
    case WITH_IRF:
        return maps->options->irf_fwhm > 0;
    case SINGLE:
        return rows_of(maps) * maps->frame->columns == 1;
    }
    return false;
}

static bool written(const sxi_fit_maps *maps, const field *f) {
    return wanted(maps, f) && f->when != SINGLE;
}

static bool has_planes(const field *f) { return f->kind == MODE || f->kind == CORRECTED; }

static sx_dtype type_of(const field *f) {
    switch (f->kind) {
    case BYTE:
        return SX_U8;
    case COUNT:
        return SX_U16;
    case NUMBER:
        return SX_I32;
    case MODE:
    case PIXEL:
    case CORRECTED:
        break;
    }
    return SX_F64;
}

/* Shape of a map: [K,] [S,] then [H,W] or [N]. Returns the rank. */
static int map_shape(const sxi_fit_maps *maps, bool planes, int64_t *shape) {
    const sxi_source_info *info = maps->info;
    int rank = 0;
    if (planes) {
        shape[rank++] = maps->modes;
    }
    if (info->rank > 2) {
        shape[rank++] = info->shape[0];
    }
    shape[rank++] = maps->frame->rows;
    if (info->rank > 1) {
        shape[rank++] = maps->frame->columns;
    }
    return rank;
}

/* Response of a Gaussian of that width, and of a delay bin, at a frequency (docs/theory/dcos.md).
 */
static double response(const sxi_fit_maps *maps, double frequency) {
    const double pi = 3.14159265358979323846;
    double sigma = maps->options->irf_fwhm / (2 * sqrt(2 * log(2.0)));
    double angle = pi * frequency * maps->info->bin_width_ps;
    double bin = angle > 0 ? sin(angle) / angle : 1;
    double factor = exp(-2 * pow(pi * frequency * sigma, 2)) * bin;
    return factor > 1e-3 ? factor : (double)NAN; /* nothing of the mode is left to correct */
}

/* --- arrays --- */

void sxi_fit_maps_declare(sx_cluster *cluster, sxi_fit_maps *maps) {
    const int64_t shape[] = {maps->modes, rows_of(maps), maps->frame->columns};
    for (int i = 0; i < FIELD_COUNT; i++) {
        const int without = !has_planes(&FIELDS[i]);
        if (wanted(maps, &FIELDS[i])) {
            maps->map[i] =
                sx_darray_create(cluster, type_of(&FIELDS[i]), 3 - without, shape + without);
        }
    }
}

void sxi_fit_maps_destroy(sxi_fit_maps *maps) {
    for (int i = 0; i < FIELD_COUNT; i++) {
        sx_darray_destroy(&maps->map[i]);
    }
}

void sxi_fit_maps_use(const sxi_fit_maps *maps, sx_use *use) {
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (maps->map[i]) {
            *use++ = (sx_use){maps->map[i], has_planes(&FIELDS[i]) ? "- row column" : "row column",
                              SX_WRITE};
        }
    }
}

/* Where a field of a fit lies. */
static const char *place_of(const field *f, const sx_dcos_fit *fit, int plane) {
    return (has_planes(f) ? (const char *)&fit->mode[plane] : (const char *)fit) + f->offset;
}

/* Copies the field of n fits. */
#define COPY(type)                                                                                 \
    do {                                                                                           \
        for (int64_t j = 0; j < n; j++) {                                                          \
            memcpy((type *)to + j, from + (size_t)j * sizeof *fit, sizeof(type));                  \
        }                                                                                          \
    } while (0)

static void put_row(const sxi_fit_maps *maps, const field *f, int plane, const sx_dcos_fit *fit,
                    int64_t n, void *to) {
    const char *from = place_of(f, fit, plane);
    switch (f->kind) {
    case BYTE:
        COPY(uint8_t);
        break;
    case COUNT:
        COPY(uint16_t);
        break;
    case NUMBER:
        COPY(int32_t);
        break;
    case MODE:
    case PIXEL:
    case CORRECTED:
        COPY(double);
        break;
    }
    for (int64_t j = 0; j < n && f->kind == CORRECTED; j++) {
        ((double *)to)[j] /= response(maps, fit[j].mode[plane].frequency);
    }
}

/* One plane of a patch: [rows][columns] of a map. */
static void put_plane(const sxi_fit_maps *maps, const field *f, int plane,
                      const sxi_fit_patch *patch, int64_t first_column, const sx_dcos_fit *fit,
                      const sx_array *array) {
    const int axis = array->rank - 2;
    const int64_t first = (has_planes(f) ? plane * array->stride[0] : 0) +
                          patch->row * array->stride[axis] + patch->column - first_column;
    for (int64_t i = 0; i < patch->rows; i++) {
        void *to = (char *)array->data +
                   (first + i * array->stride[axis]) * (int64_t)sx_dtype_size(array->dtype);
        put_row(maps, f, plane, fit + i * patch->columns, patch->columns, to);
    }
}

void sxi_fit_maps_put(const sxi_fit_maps *maps, const sxi_fit_patch *patch, int64_t first_column,
                      const sx_dcos_fit *fit, const sx_array *array) {
    for (int i = 0; i < FIELD_COUNT; i++) {
        const int planes = has_planes(&FIELDS[i]) ? maps->modes : 1;
        for (int k = 0; k < planes && maps->map[i]; k++) {
            put_plane(maps, &FIELDS[i], k, patch, first_column, fit, array);
        }
        array += maps->map[i] != NULL;
    }
}

const void *sxi_fit_maps_values(const sxi_fit_maps *maps, const char *name) {
    int i = 0;
    while (strcmp(FIELDS[i].name, name) != 0) {
        i++;
        assert(i < FIELD_COUNT);
    }
    return maps->map[i]->values.data;
}

void sxi_fit_maps_single(const sxi_fit_maps *maps, sx_dcos_fit *fit) {
    const double missing = (double)NAN;
    *fit = (sx_dcos_fit){0};
    for (size_t at = 0; at < OF_FIT(used); at += sizeof missing) { /* all of them doubles */
        memcpy((char *)fit + at, &missing, sizeof missing);
    }
    for (int i = 0; i < FIELD_COUNT; i++) {
        const field *f = &FIELDS[i];
        const size_t size = sx_dtype_size(type_of(f));
        for (int k = 0; maps->map[i] && k < (has_planes(f) ? maps->modes : 1); k++) {
            char *to = (has_planes(f) ? (char *)&fit->mode[k] : (char *)fit) + f->offset;
            if (f->kind != CORRECTED) {
                memcpy(to, (const char *)maps->map[i]->values.data + (size_t)k * size, size);
            }
        }
    }
}

/* --- the file --- */

static void name_of(const field *f, char name[64]) { snprintf(name, 64, "/fit/%s", f->name); }

/* words: short, plotting programs write them on the axis. */
static sx_status write_scale(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int64_t count,
                             double first, double step, const char *words) {
    sx_array array;
    SXI_TRY(sx_array_create(dtype, 1, &count, &array));
    for (int64_t i = 0; i < count; i++) {
        sx_array_set(&array, &i, first + step * (double)i);
    }
    sx_status status = sxi_h5_write(writer, name, &array, "", words);
    sx_array_destroy(&array);
    return status;
}

/* Not a scale: no map has delays along an axis. */
static sx_status write_delays(const sxi_source_info *info, sxi_h5_writer *writer) {
    sx_array delays;
    SXI_TRY(sx_array_create(SX_F64, 1, &info->nt, &delays));
    memcpy(delays.data, info->delay_ps, (size_t)info->nt * sizeof *info->delay_ps);
    sx_status status = sxi_h5_write(writer, "/fit/delay", &delays, "ps",
                                    "delays of the samples, those before t_start_ps were left out");
    sx_array_destroy(&delays);
    return status;
}

static sx_status write_scales(const sxi_fit_maps *maps, sxi_h5_writer *writer) {
    const sxi_fit_frame *frame = maps->frame;
    double y = (double)frame->y0 + 0.5 * (double)(frame->bin_y - 1);
    double x = (double)frame->x0 + 0.5 * (double)(frame->bin_x - 1);
    SXI_TRY(write_scale(writer, "/fit/mode", SX_I64, maps->modes, 0, 1, "mode"));
    if (maps->info->rank > 2) {
        SXI_TRY(write_scale(writer, "/fit/segment", SX_I64, frame->segments, 0, 1, "segment"));
    }
    SXI_TRY(
        write_scale(writer, "/fit/y", SX_F64, frame->rows, y, (double)frame->bin_y, "row (pixel)"));
    if (maps->info->rank > 1) {
        SXI_TRY(write_scale(writer, "/fit/x", SX_F64, frame->columns, x, (double)frame->bin_x,
                            "column (pixel)"));
    }
    return SX_OK;
}

static sx_status attach_scales(const sxi_fit_maps *maps, sxi_h5_writer *writer, const char *name,
                               bool planes) {
    int rank = maps->info->rank, d = 0;
    if (planes) {
        SXI_TRY(sxi_h5_attach_scale(writer, name, d++, "/fit/mode"));
    }
    if (rank > 2) {
        SXI_TRY(sxi_h5_attach_scale(writer, name, d++, "/fit/segment"));
    }
    SXI_TRY(sxi_h5_attach_scale(writer, name, d++, "/fit/y"));
    if (rank > 1) {
        SXI_TRY(sxi_h5_attach_scale(writer, name, d, "/fit/x"));
    }
    return SX_OK;
}

static sx_status write_state_names(sxi_h5_writer *writer) {
    enum { MOST = 32 };
    const char *words[MOST], *sentences[MOST];
    int count = 0;
    for (; count < MOST && sx_dcos_state_word(count); count++) {
        words[count] = sx_dcos_state_word(count);
        sentences[count] = sx_dcos_state_sentence(count);
    }
    SXI_TRY(sxi_h5_set_texts(writer, "/fit/state", "state_names", count, words));
    return sxi_h5_set_texts(writer, "/fit/state", "state_sentences", count, sentences);
}

static sx_status write_settings(const sxi_fit_maps *maps, const sx_dcos_plan *plan,
                                sxi_h5_writer *writer) {
    static const char *const backgrounds[] = {"constant", "none", "linear", "exp"};
    static const char *const inits[] = {"bank", "esprit", "lpsvd"};
    const sx_dcos_options *o = &maps->options->dcos;
    const sxi_fit_frame *f = maps->frame;
    double lowest, highest;
    sx_dcos_plan_window(plan, &lowest, &highest);
    const double window[] = {lowest, highest};
    double t_start = o->has_t_start ? o->t_start : o->t0;
    const int64_t roi[] = {f->y0, f->y1, f->x0, f->x1}, bin[] = {f->bin_y, f->bin_x};
    const int64_t left_out = maps->info->nt - sx_dcos_plan_used(plan);
    const char *axes[4] = {"mode"};
    int rank = 1;
    if (maps->info->rank > 2) {
        axes[rank++] = "segment";
    }
    axes[rank++] = "y";
    if (maps->info->rank > 1) {
        axes[rank++] = "x";
    }
    SXI_TRY(sxi_h5_set_text(writer, "/", "NX_class", "NXroot"));
    SXI_TRY(sxi_h5_set_text(writer, "/", "default", "fit"));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "NX_class", "NXdata"));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "signal", "frequency"));
    SXI_TRY(sxi_h5_set_texts(writer, "/fit", "axes", rank, axes));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "model",
                            "y(t) = background + sum_k A exp(-g t') cos(2 pi f t' + p), "
                            "t' = t - t0; t in ps, f in THz"));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "input_layout", maps->info->layout));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "input_sigma",
                            maps->info->has_sigma ? "known" : "unknown"));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "background", backgrounds[o->background]));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "init", inits[o->init]));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "modes_wanted", o->fixed_modes ? "fixed" : "auto"));
    SXI_TRY(sxi_h5_set_text(writer, "/fit", "sigma_scale",
                            o->scale == SX_SCALE_ABSOLUTE ? "absolute" : "residual"));
    SXI_TRY(sxi_h5_set_reals(writer, "/fit", "t0_ps", 1, &o->t0));
    SXI_TRY(sxi_h5_set_reals(writer, "/fit", "t_start_ps", 1, &t_start));
    SXI_TRY(sxi_h5_set_reals(writer, "/fit", "frequency_window_thz", 2, window));
    SXI_TRY(sxi_h5_set_reals(writer, "/fit", "irf_fwhm_ps", 1, &maps->options->irf_fwhm));
    SXI_TRY(sxi_h5_set_ints(writer, "/fit", "delays_left_out", 1, &left_out));
    SXI_TRY(sxi_h5_set_ints(writer, "/fit", "roi", 4, roi));
    SXI_TRY(
        sxi_h5_set_text(writer, "/fit", "roi_order",
                        "y0 y1 x0 x1 of the frame as stored: rows y0 <= y < y1, columns x0 <= x "
                        "< x1"));
    return sxi_h5_set_ints(writer, "/fit", "bin", 2, bin);
}

static sx_status write_map(const sxi_fit_maps *maps, int i, sxi_h5_writer *writer) {
    const field *f = &FIELDS[i];
    int64_t shape[SX_MAX_RANK], start[SX_MAX_RANK] = {0};
    char name[64];
    sx_array array;
    const int rank = map_shape(maps, has_planes(f), shape);
    name_of(f, name);
    SXI_TRY(sxi_h5_dataset_create(writer, name, type_of(f), rank, shape, f->unit, f->sentence));
    SXI_TRY(attach_scales(maps, writer, name, has_planes(f)));
    SXI_TRY(sx_array_view(type_of(f), rank, shape, maps->map[i]->values.data, &array));
    return sxi_h5_write_box(writer, name, start, &array);
}

sx_status sxi_fit_maps_write(const sxi_fit_maps *maps, const sx_dcos_plan *plan,
                             sxi_h5_writer *writer) {
    SXI_TRY(write_scales(maps, writer));
    SXI_TRY(write_delays(maps->info, writer));
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (written(maps, &FIELDS[i])) {
            SXI_TRY(write_map(maps, i, writer));
        }
    }
    SXI_TRY(write_state_names(writer));
    return write_settings(maps, plan, writer);
}
