/* SPDX-License-Identifier: Apache-2.0
 * The file of a simulated run: bands of rows are made by all threads and written one after the
 * other, so memory does not grow with the frame. */
#include <sextant/xani.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "engine/launcher.h"
#include "io/hdf5/h5file.h"
#include "xani/simulate/simulate.h"

/* Bytes of a band; a band is at least one row. */
enum { BAND_BYTES = 8 << 20 };

typedef enum field_shape { PER_DELAY, PER_MODE, PER_PIXEL } field_shape;

typedef struct field {
    const char *name;
    sx_dtype dtype;
    field_shape shape;
    const char *unit, *sentence;
} field;

/* X(id, name, type, shape, unit, sentence): what a band consists of. */
#define FIELD_LIST(X)                                                                              \
    X(SIGNAL, "/cube/signal", SX_F32, PER_DELAY, "1",                                              \
      "relative change of the intensity, laser on over laser off minus 1")                         \
    X(SIGMA, "/cube/sigma", SX_F32, PER_DELAY, "1",                                                \
      "1 sigma of signal from the photons of the laser-on image; that of off_mean is not in it")   \
    X(OFF_MEAN, "/cube/off_mean", SX_F32, PER_PIXEL, "photon",                                     \
      "mean laser-off image, photons in the shots of a bin of average length")                     \
    X(OFF_ERROR, "/cube/off_error", SX_F32, PER_PIXEL, "photon",                                   \
      "1 sigma of off_mean, common to all bins")                                                   \
    X(MASK, "/cube/mask", SX_U8, PER_PIXEL, "1", "0: good, 1: behind the beam stop or dead")       \
    X(FREQUENCY, "/truth/frequency", SX_F64, PER_MODE, "THz",                                      \
      "frequency of the oscillation of the intensity, twice that of the phonon")                   \
    X(AMPLITUDE, "/truth/amplitude", SX_F64, PER_MODE, "1", "amplitude in signal at time zero")    \
    X(DECAY, "/truth/decay", SX_F64, PER_MODE, "1/ps", "decay rate of the oscillation")            \
    X(PHASE, "/truth/phase", SX_F64, PER_MODE, "rad", "phase of the cosine at time zero")          \
    X(OFFSET, "/truth/offset", SX_F64, PER_PIXEL, "1", "level about which signal oscillates")      \
    X(MODES, "/truth/modes", SX_U8, PER_PIXEL, "1", "number of modes, faint ones included")        \
    X(H, "/truth/h", SX_F64, PER_PIXEL, "1",                                                       \
      "momentum transfer along x, in 2 pi over the lattice constant; the nearest whole number is " \
      "the Bragg peak")                                                                            \
    X(K, "/truth/k", SX_F64, PER_PIXEL, "1", "momentum transfer along y, as h")

enum {
#define FIELD_ID(id, name, type, shape, unit, sentence) id,
    FIELD_LIST(FIELD_ID)
#undef FIELD_ID
        FIELDS
};

static const field fields[FIELDS] = {
#define FIELD_ROW(id, name, type, shape, unit, sentence) {name, type, shape, unit, sentence},
    FIELD_LIST(FIELD_ROW)
#undef FIELD_ROW
};

typedef struct band {
    int64_t row0, rows;
    sx_array value[FIELDS];
} band;

/* --- what is asked for --- */

static sx_status check_options(const sx_xani_simulate_options *given,
                               sx_xani_simulate_options *options) {
    *options = given ? *given : (sx_xani_simulate_options){0};
    for (int d = 0; d < 2; d++) {
        options->shape[d] = options->shape[d] ? options->shape[d] : 64;
        if (options->shape[d] < 1 || options->shape[d] > 65536) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "a frame has 1 to 65536 pixels a side, not %lld",
                            (long long)options->shape[d]);
        }
    }
    options->delays = options->delays ? options->delays : 120;
    if (options->delays < 1 || options->delays > 1 << 20) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "a run has 1 to %d delays, not %lld", 1 << 20,
                        (long long)options->delays);
    }
    if (options->delay_step == 0) {
        options->delay_step = 0.08;
    }
    if (!(options->delay_step > 0 && options->delay_step <= 1e6)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "the delay step is %g ps; it must be above 0, at most 1e6",
                        options->delay_step);
    }
    if (!options->has_delay_first) {
        options->delay_first = -0.8;
    }
    if (!(fabs(options->delay_first) <= 1e6)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "the first delay is %g ps; give one within 1e6 ps of zero",
                        options->delay_first);
    }
    if (options->photons == 0) {
        options->photons = 2e4;
    }
    /* Above 1e12 a double no longer tells the logarithm of a Poisson probability from rounding. */
    if (!(options->photons >= 1 && options->photons <= 1e9)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%g photons per pixel and bin; give 1 to 1e9, or ask for no noise",
                        options->photons);
    }
    if (options->frequency_max == 0) {
        options->frequency_max = 2;
    }
    if (!(options->frequency_max > 0 && options->frequency_max <= 1e4)) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "the highest frequency is %g THz; it must be above 0, at most 1e4",
                        options->frequency_max);
    }
    options->seed = options->seed ? options->seed : 1;
    return SX_OK;
}

/* --- the axis of delays --- */

typedef struct axis {
    double *delay, *share; /* [nt] */
    int64_t *count;        /* [nt] */
} axis;

static void axis_destroy(axis *a) {
    free(a->delay);
    free(a->share);
    free(a->count);
    *a = (axis){0};
}

static sx_status axis_create(const sx_xani_simulate_options *options, axis *a) {
    size_t nt = (size_t)options->delays;
    *a = (axis){malloc(nt * sizeof(double)), malloc(nt * sizeof(double)),
                malloc(nt * sizeof(int64_t))};
    if (!a->delay || !a->share || !a->count) {
        axis_destroy(a);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)options->delays);
    }
    double shots = 0;
    for (int64_t t = 0; t < options->delays; t++) {
        a->count[t] = sxi_run_shots(options->seed, t);
        a->delay[t] =
            sxi_run_delay(options->seed, t, options->delay_first, options->delay_step, a->count[t]);
        shots += (double)a->count[t];
    }
    for (int64_t t = 0; t < options->delays; t++) {
        a->share[t] = (double)a->count[t] * (double)options->delays / shots;
    }
    return SX_OK;
}

/* --- bands --- */

static void field_box(const sxi_run *run, field_shape shape, int64_t row0, int64_t rows, int *rank,
                      int64_t start[3], int64_t count[3]) {
    *rank = shape == PER_PIXEL ? 2 : 3;
    int64_t planes = shape == PER_DELAY ? run->nt : SXI_BRANCHES;
    int64_t starts[3] = {0, row0, 0}, counts[3] = {planes, rows, run->width};
    int skip = 3 - *rank;
    memcpy(start, starts + skip, (size_t)*rank * sizeof *start);
    memcpy(count, counts + skip, (size_t)*rank * sizeof *count);
}

static void band_destroy(band *b) {
    for (int f = 0; f < FIELDS; f++) {
        sx_array_destroy(&b->value[f]);
    }
}

static sx_status band_create(const sxi_run *run, int64_t row0, int64_t rows, band *b) {
    sx_status status = SX_OK;
    *b = (band){.row0 = row0, .rows = rows};
    for (int f = 0; f < FIELDS; f++) {
        int rank;
        int64_t start[3], count[3];
        field_box(run, fields[f].shape, row0, rows, &rank, start, count);
        SXI_GO(sx_array_create(fields[f].dtype, rank, count, &b->value[f]));
    }
out:
    if (status != SX_OK) {
        band_destroy(b);
    }
    return status;
}

static void put_truth(band *b, int64_t i, int64_t npix, const sxi_pixel *pixel) {
    ((double *)b->value[H].data)[i] = pixel->h;
    ((double *)b->value[K].data)[i] = pixel->k;
    bool known = !pixel->masked;
    ((double *)b->value[OFFSET].data)[i] = known ? pixel->offset : (double)NAN;
    ((uint8_t *)b->value[MODES].data)[i] = known ? (uint8_t)pixel->modes : 0;
    for (int m = 0; m < SXI_BRANCHES; m++) {
        bool there = known && m < pixel->modes;
        int64_t at = m * npix + i;
        ((double *)b->value[FREQUENCY].data)[at] = there ? pixel->frequency[m] : (double)NAN;
        ((double *)b->value[AMPLITUDE].data)[at] = there ? pixel->amplitude[m] : (double)NAN;
        ((double *)b->value[DECAY].data)[at] = there ? pixel->decay[m] : (double)NAN;
        ((double *)b->value[PHASE].data)[at] = there ? pixel->phase[m] : (double)NAN;
    }
}

/* scratch [2 nt]: the trace and its errors. */
static void fill_pixel(const sxi_run *run, band *b, int64_t i, double *scratch) {
    int64_t npix = b->rows * run->width, number = b->row0 * run->width + i;
    double *y = scratch, *sigma = scratch + run->nt;
    sxi_pixel pixel = sxi_run_pixel(run, number);
    sxi_measured measured = {0};
    if (!pixel.masked) {
        measured = sxi_run_measure(run, &pixel, number, y, sigma);
    }
    put_truth(b, i, npix, &pixel);
    ((uint8_t *)b->value[MASK].data)[i] = pixel.masked;
    ((float *)b->value[OFF_MEAN].data)[i] = pixel.masked ? NAN : (float)measured.off;
    ((float *)b->value[OFF_ERROR].data)[i] = pixel.masked ? NAN : (float)measured.off_error;
    float *signal = b->value[SIGNAL].data, *error = b->value[SIGMA].data;
    for (int64_t t = 0; t < run->nt; t++) {
        signal[t * npix + i] = measured.seen ? (float)y[t] : NAN;
        error[t * npix + i] = measured.seen ? (float)sigma[t] : NAN;
    }
}

static sx_status band_fill(const sxi_run *run, band *b, int threads) {
    size_t scratch_size = 2 * (size_t)run->nt;
    bool memory = true;
#pragma omp parallel num_threads(threads)
    {
        double *scratch = malloc(scratch_size * sizeof *scratch);
        if (!scratch) {
#pragma omp atomic write
            memory = false;
        }
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < b->rows * run->width; i++) {
            if (scratch) {
                fill_pixel(run, b, i, scratch);
            }
        }
        free(scratch);
    }
    return memory
               ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for traces of %lld delays", (long long)run->nt);
}

static sx_status band_write(const sxi_run *run, const band *b, sxi_h5_writer *writer) {
    for (int f = 0; f < FIELDS; f++) {
        int rank;
        int64_t start[3], count[3];
        field_box(run, fields[f].shape, b->row0, b->rows, &rank, start, count);
        SXI_TRY(sxi_h5_write_box(writer, fields[f].name, start, &b->value[f]));
    }
    return SX_OK;
}

static sx_status write_bands(const sxi_run *run, sxi_h5_writer *writer, const sx_context *context) {
    int64_t row_bytes = run->nt * run->width * 2 * (int64_t)sizeof(float);
    int64_t rows = BAND_BYTES / row_bytes;
    rows = rows < 1 ? 1 : rows > run->rows ? run->rows : rows;
    for (int64_t row0 = 0; row0 < run->rows; row0 += rows) {
        if (sx_cancelled(context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "cancelled at row %lld of %lld", (long long)row0,
                            (long long)run->rows);
        }
        band b;
        int64_t left = run->rows - row0;
        SXI_TRY(band_create(run, row0, rows < left ? rows : left, &b));
        sx_status status = band_fill(run, &b, sx_threads(context));
        if (status == SX_OK) {
            status = band_write(run, &b, writer);
        }
        band_destroy(&b);
        SXI_TRY(status);
        sx_progress(context, "rows", row0 + rows < run->rows ? row0 + rows : run->rows, run->rows);
    }
    return SX_OK;
}

/* --- the rest of the file --- */

static sx_status create_fields(const sxi_run *run, sxi_h5_writer *writer) {
    for (int f = 0; f < FIELDS; f++) {
        int rank;
        int64_t start[3], shape[3];
        field_box(run, fields[f].shape, 0, run->rows, &rank, start, shape);
        SXI_TRY(sxi_h5_dataset_create(writer, fields[f].name, fields[f].dtype, rank, shape,
                                      fields[f].unit, fields[f].sentence));
    }
    return SX_OK;
}

static sx_status write_numbers(sxi_h5_writer *writer, const char *name, int64_t count,
                               const char *words) {
    sx_array numbers;
    SXI_TRY(sx_array_create(SX_I64, 1, &count, &numbers));
    for (int64_t i = 0; i < count; i++) {
        ((int64_t *)numbers.data)[i] = i;
    }
    sx_status status = sxi_h5_write(writer, name, &numbers, "", words);
    sx_array_destroy(&numbers);
    return status;
}

/* Of every axis of /cube: netCDF does not open a dataset of which only some have a scale. Those of
 * /truth have none, because netCDF looks for them in the same group or above. */
static sx_status attach_scales(sxi_h5_writer *writer) {
    SXI_TRY(sxi_h5_attach_scale(writer, "/cube/count", 0, "/cube/delay"));
    for (int f = 0; f < FIELDS; f++) {
        int d = 0;
        if (strncmp(fields[f].name, "/cube/", 6) != 0) {
            continue;
        }
        if (fields[f].shape == PER_DELAY) {
            SXI_TRY(sxi_h5_attach_scale(writer, fields[f].name, d++, "/cube/delay"));
        }
        SXI_TRY(sxi_h5_attach_scale(writer, fields[f].name, d++, "/cube/y"));
        SXI_TRY(sxi_h5_attach_scale(writer, fields[f].name, d, "/cube/x"));
    }
    return SX_OK;
}

static sx_status write_axis(const sxi_run *run, axis *a, sxi_h5_writer *writer) {
    sx_array delay, count;
    SXI_TRY(sx_array_view(SX_F64, 1, &run->nt, a->delay, &delay));
    SXI_TRY(sx_array_view(SX_I64, 1, &run->nt, a->count, &count));
    SXI_TRY(sxi_h5_write(writer, "/cube/delay", &delay, "ps", "mean delay of the bin"));
    SXI_TRY(sxi_h5_write(writer, "/cube/count", &count, "1", "laser-on shots of the bin"));
    SXI_TRY(write_numbers(writer, "/cube/y", run->rows, "row (pixel)"));
    SXI_TRY(write_numbers(writer, "/cube/x", run->width, "column (pixel)"));
    return attach_scales(writer);
}

static sx_status write_attributes(const sxi_run *run, sxi_h5_writer *writer,
                                  const sx_context *context) {
    static const char *const axes[] = {"delay", "y", "x"};
    double springs[] = {run->lattice.k1, run->lattice.k2};
    int64_t seed = (int64_t)run->seed;
    SXI_TRY(sxi_h5_set_text(writer, "/", "NX_class", "NXroot"));
    SXI_TRY(sxi_h5_set_text(writer, "/", "default", "cube"));
    SXI_TRY(sxi_h5_set_text(writer, "/cube", "NX_class", "NXdata"));
    SXI_TRY(sxi_h5_set_text(writer, "/cube", "signal", "signal"));
    SXI_TRY(sxi_h5_set_texts(writer, "/cube", "axes", 3, axes));
    /* NeXus would look for signal_errors. */
    SXI_TRY(sxi_h5_set_text(writer, "/cube/signal", "errors", "sigma"));
    SXI_TRY(sxi_h5_set_text(writer, "/truth", "model",
                            "signal = offset + sum amplitude exp(-decay t) cos(2 pi frequency t + "
                            "phase) for t >= 0, else 0"));
    SXI_TRY(sxi_h5_set_text(writer, "/truth", "lattice",
                            "square, one atom; springs over mass to nearest and next-nearest "
                            "neighbours, (rad/ps)^2; the pump scales the dynamical matrix by 1 - "
                            "softening"));
    SXI_TRY(sxi_h5_set_reals(writer, "/truth", "springs", 2, springs));
    SXI_TRY(sxi_h5_set_reals(writer, "/truth", "softening", 1, &run->lattice.softening));
    SXI_TRY(sxi_h5_set_ints(writer, "/truth", "seed", 1, &seed));
    return sxi_h5_provenance(writer, context, 0, NULL);
}

static void warn_of_aliases(const sx_xani_simulate_options *options, const sxi_lattice *lattice,
                            const sx_context *context) {
    double highest = 2 * options->frequency_max * sqrt(1 - lattice->softening);
    double nyquist = 0.5 / options->delay_step;
    if (highest > nyquist) {
        sx_log(
            context, SX_LOG_WARNING,
            "signals reach %.3g THz, delays of %.3g ps resolve %.3g THz: fast modes will show up "
            "at wrong frequencies",
            highest, options->delay_step, nyquist);
    }
}

sx_status sx_xani_simulate(const sx_xani_simulate_options *given, const char *output,
                           const sx_context *context) {
    sx_xani_simulate_options options;
    SXI_TRY(sxi_launcher_alone("xani simulate"));
    SXI_TRY(check_options(given, &options));
    sx_status status = SX_OK;
    axis a = {0};
    sxi_h5_writer *writer = NULL;
    SXI_GO(sxi_h5_create(output, options.overwrite, &writer));
    SXI_GO(axis_create(&options, &a));
    sxi_run run = {.lattice = sxi_lattice_create(options.frequency_max),
                   .omega_max = 2 * 3.14159265358979323846 * options.frequency_max,
                   .rows = options.shape[0],
                   .width = options.shape[1],
                   .nt = options.delays,
                   .delay = a.delay,
                   .share = a.share,
                   .photons = options.photons,
                   .seed = options.seed,
                   .noiseless = options.noiseless};
    run.brightness = sxi_run_brightness(&run);
    warn_of_aliases(&options, &run.lattice, context);
    SXI_GO(create_fields(&run, writer));
    SXI_GO(write_axis(&run, &a, writer));
    SXI_GO(write_bands(&run, writer, context));
    SXI_GO(write_attributes(&run, writer, context));
    SXI_GO(sxi_h5_commit(&writer));
out:
    sxi_h5_abandon(&writer);
    axis_destroy(&a);
    return status;
}
