/* SPDX-License-Identifier: Apache-2.0
 * Fits and their pixels in reciprocal space. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/dispersion/dispersion.h"
#include "xani/fit/fit.h"

/* q of all pixels of the detector, from pixels.h5. */
typedef struct frame_q {
    const char *path;
    int rank;
    int64_t shape[SX_MAX_RANK];
    sx_array q[3];
} frame_q;

static void detector_free(frame_q *detector) {
    for (int i = 0; i < 3; i++) {
        sx_array_destroy(&detector->q[i]);
    }
}

static sx_status detector_read(const char *path, frame_q *detector) {
    static const char *const names[] = {"/pixels/qx", "/pixels/qy", "/pixels/qz"};
    static const sx_dtype real = SX_F64;
    sx_status status = SX_OK;
    sx_hdf5 *file = NULL;
    memset(detector, 0, sizeof *detector);
    detector->path = path;
    SXI_GO(sx_hdf5_open(path, &file));
    for (int i = 0; i < 3; i++) {
        SXI_GO(sxi_h5_read(file, names[i], &real, &detector->q[i]));
        if (detector->q[i].rank < 1 || detector->q[i].rank > 3 ||
            sx_array_count(&detector->q[i]) != sx_array_count(&detector->q[0])) {
            status = SXI_FAIL(SX_ERR_SHAPE, "%s: %s has not the shape of a frame", path, names[i]);
            goto out;
        }
    }
    detector->rank = detector->q[0].rank;
    memcpy(detector->shape, detector->q[0].shape, sizeof detector->shape);
out:
    sx_hdf5_close(&file);
    return status;
}

/* --- the angles --- */

/* The angle of an axis while the run was taken, degrees: a dataset of /cube under the name of the
 * axis, or of the dataset that the crystal names. */
static sx_status read_angle(const sxi_fit_file *fit, const sx_crystal_axis *axis, double *angle) {
    const char *slash = strrchr(axis->dataset, '/');
    const char *const names[] = {axis->name, slash ? slash + 1 : axis->dataset};
    static const sx_dtype real = SX_F64;
    for (int i = 0; i < 2; i++) {
        char place[512];
        sx_array array = {0};
        snprintf(place, sizeof place, "/cube/%s", names[i]);
        if (!sxi_h5_exists(fit->h5, place)) {
            continue;
        }
        SXI_TRY(sxi_h5_read(fit->h5, place, &real, &array));
        const bool single = sx_array_count(&array) == 1;
        *angle = single ? *(const double *)array.data : (double)NAN;
        sx_array_destroy(&array);
        return isfinite(*angle) ? SX_OK
                                : SXI_FAIL(SX_ERR_FORMAT, "%s: %s is not one angle in degrees",
                                           fit->path, place);
    }
    return SXI_FAIL(SX_ERR_MISSING,
                    "%s has no angle of the axis %s: /cube/%s was looked for, which sextant xani "
                    "reduce writes; or fix the angle in the file of the crystal",
                    fit->path, axis->name, axis->name);
}

static sx_status read_rotation(const sxi_dispersion *d, sxi_sheet_run *run) {
    const sx_crystal *crystal = d->crystal;
    double *angle = calloc((size_t)crystal->axes + 1, sizeof *angle);
    sx_status status = SX_OK;
    if (!angle) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d angles", crystal->axes);
    }
    for (int a = 0; a < crystal->axes; a++) {
        if (crystal->axis[a].dataset) {
            SXI_GO(read_angle(&run->fit, &crystal->axis[a], &angle[a]));
        }
    }
    SXI_GO(sx_crystal_hkl_matrix(crystal, angle, run->rotation));
out:
    free(angle);
    return status;
}

/* --- the pixels --- */

static sx_status make_frame(const sxi_fit_file *fit, const frame_q *detector,
                            sxi_fit_frame *frame) {
    const int64_t *roi = fit->roi, n = sx_array_count(&detector->q[0]);
    const int64_t width = detector->rank == 1 ? 1 : detector->shape[detector->rank - 1];
    sxi_source_info info = {.rank = detector->rank, .rows = n / width, .width = width};
    memcpy(info.shape, detector->shape, sizeof info.shape);
    const sx_xani_fit_options options = {.bin = {fit->bin[0], fit->bin[1]},
                                         .has_roi = roi[1] > roi[0],
                                         .roi = {roi[0], roi[1], roi[2], roi[3]}};
    if (sxi_fit_frame_make(&info, &options, frame) != SX_OK ||
        frame->segments * frame->rows != fit->rows || frame->columns != fit->width) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s describes %lld rows of %lld pixels, from which maps as those of %s "
                        "(%lld of %lld) do not follow: give the geometry of that detector",
                        detector->path, (long long)info.rows, (long long)width, fit->path,
                        (long long)fit->rows, (long long)fit->width);
    }
    return SX_OK;
}

/* Mean q of the pixels of the detector that make one of the maps. */
static void mean_q(const sxi_fit_frame *f, const frame_q *detector, int64_t row, int64_t column,
                   double q[3]) {
    const int64_t top = f->y0 + row % f->rows * f->bin_y, left = f->x0 + column * f->bin_x;
    const int64_t first = row / f->rows * f->segment_rows;
    const int64_t y1 = top + f->bin_y < f->y1 ? top + f->bin_y : f->y1;
    const int64_t x1 = left + f->bin_x < f->x1 ? left + f->bin_x : f->x1;
    for (int i = 0; i < 3; i++) {
        const double *all = detector->q[i].data;
        double sum = 0;
        for (int64_t y = top; y < y1; y++) {
            for (int64_t x = left; x < x1; x++) {
                sum += all[(first + y) * f->width + x];
            }
        }
        q[i] = sum / (double)((y1 - top) * (x1 - left));
    }
}

static sx_status place_pixels(const frame_q *detector, sxi_sheet_run *run) {
    const sxi_fit_file *fit = &run->fit;
    sxi_fit_frame frame;
    SXI_TRY(make_frame(fit, detector, &frame));
    run->hkl = malloc(3 * (size_t)fit->npix * sizeof *run->hkl);
    run->q = malloc((size_t)fit->npix * sizeof *run->q);
    if (!run->hkl || !run->q) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for q of %lld pixels", (long long)fit->npix);
    }
    for (int64_t i = 0; i < fit->npix; i++) {
        double q[3], *hkl = run->hkl + 3 * i;
        mean_q(&frame, detector, i / fit->width, i % fit->width, q);
        run->q[i] = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
        for (int j = 0; j < 3; j++) {
            const double *m = run->rotation + 3 * j;
            hkl[j] = m[0] * q[0] + m[1] * q[1] + m[2] * q[2];
        }
    }
    return SX_OK;
}

static sx_status place_run(sxi_dispersion *d, const frame_q *detector, const char *path,
                           sxi_sheet_run *run) {
    SXI_TRY(sxi_fit_open(path, &run->fit));
    d->runs++;
    SXI_TRY(read_rotation(d, run));
    return place_pixels(detector, run);
}

/* Without a photon energy all q are NaN. */
static sx_status check_known(const sxi_dispersion *d, const char *geometry) {
    for (int r = 0; r < d->runs; r++) {
        for (int64_t i = 0; i < d->run[r].fit.npix; i++) {
            if (isfinite(d->run[r].q[i])) {
                return SX_OK;
            }
        }
    }
    return SXI_FAIL(
        SX_ERR_MISSING,
        "%s has no q for any pixel: make it with sextant xani pixels --photon-energy EV", geometry);
}

/* Runs go into one file, so their maps must be alike. */
static sx_status check_alike(const sxi_dispersion *d) {
    for (int r = 1; r < d->runs; r++) {
        const sxi_fit_file *a = &d->run[0].fit, *b = &d->run[r].fit;
        if (a->rank != b->rank || memcmp(a->shape, b->shape, sizeof a->shape) != 0) {
            return SXI_FAIL(SX_ERR_SHAPE, "the maps of %s and %s have different shapes", a->path,
                            b->path);
        }
    }
    return SX_OK;
}

sx_status sxi_dispersion_place(sxi_dispersion *d, int files, const char *const *paths,
                               const char *geometry) {
    frame_q detector;
    sx_status status = SX_OK;
    d->run = calloc((size_t)files, sizeof *d->run);
    if (!d->run) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d runs", files);
    }
    SXI_GO(detector_read(geometry, &detector));
    for (int i = 0; i < files; i++) {
        SXI_GO(place_run(d, &detector, paths[i], &d->run[i]));
    }
    SXI_GO(check_alike(d));
    SXI_GO(check_known(d, geometry));
out:
    detector_free(&detector);
    return status;
}

void sxi_dispersion_release(sxi_dispersion *d) {
    for (int r = 0; r < d->runs; r++) {
        sxi_fit_close(&d->run[r].fit);
        free(d->run[r].hkl);
        free(d->run[r].q);
    }
    free(d->run);
    sx_crystal_destroy(&d->crystal);
    sxi_bands_free(&d->bands);
}

/* --- tones --- */

double sxi_dispersion_branch(sx_branch branch, double frequency) {
    return branch == SX_BRANCH_HALF ? frequency / 2 : frequency;
}

sx_status sxi_dispersion_tones(const sxi_dispersion *d, int r, sxi_tone **tones) {
    const sxi_fit_file *fit = &d->run[r].fit;
    const size_t n = (size_t)fit->npix, most = SX_DCOS_MAX_MODES;
    const int64_t modes = fit->modes < SX_DCOS_MAX_MODES ? fit->modes : SX_DCOS_MAX_MODES;
    sx_status status = SX_OK;
    sxi_tone *made = malloc(n * most * sizeof *made);
    double *state = malloc(4 * n * sizeof *state);
    if (!made || !state) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for the modes of %zu pixels", n);
        goto out;
    }
    double *frequency = state + n, *error = state + 2 * n, *amplitude = state + 3 * n;
    for (size_t i = 0; i < n * most; i++) {
        made[i] = (sxi_tone){(double)NAN, (double)NAN, (double)NAN};
    }
    SXI_GO(sxi_fit_plane(fit, "/fit/state", -1, state));
    for (int64_t m = 0; m < modes; m++) {
        SXI_GO(sxi_fit_plane(fit, "/fit/frequency", m, frequency));
        SXI_GO(sxi_fit_plane(fit, "/fit/frequency_errors", m, error));
        SXI_GO(sxi_fit_plane(fit, "/fit/amplitude", m, amplitude));
        for (size_t i = 0; i < n; i++) {
            if (state[i] == SX_DCOS_OK && isfinite(frequency[i]) && error[i] > 0) {
                const sx_branch branch = d->options->branch;
                made[i * most + (size_t)m] =
                    (sxi_tone){sxi_dispersion_branch(branch, frequency[i]),
                               sxi_dispersion_branch(branch, error[i]), amplitude[i]};
            }
        }
    }
    *tones = made;
    made = NULL;
out:
    free(state);
    free(made);
    return status;
}

/* --- /pixels --- */

typedef struct plane {
    const char *name, *unit, *sentence;
    double *value; /* [runs][npix] */
} plane;

static void fill_planes(const sxi_dispersion *d, plane *planes) {
    for (int r = 0; r < d->runs; r++) {
        const sxi_sheet_run *run = &d->run[r];
        for (int64_t i = 0; i < run->fit.npix; i++) {
            const int64_t at = r * run->fit.npix + i;
            double zone[3];
            sx_crystal_fold(d->crystal, run->hkl + 3 * i, NULL, zone);
            for (int j = 0; j < 3; j++) {
                planes[j].value[at] = run->hkl[3 * i + j];
                planes[3 + j].value[at] = zone[j];
            }
            planes[6].value[at] = run->q[i];
            planes[7].value[at] = sx_crystal_length(d->crystal, zone);
        }
    }
}

sx_status sxi_dispersion_pixels(const sxi_dispersion *d, sxi_h5_writer *writer) {
    plane planes[] = {
        {"h", "", "h of the pixel, reciprocal lattice units of the cell", NULL},
        {"k", "", "k of the pixel", NULL},
        {"l", "", "l of the pixel", NULL},
        {"zone_h", "", "h in the first Brillouin zone", NULL},
        {"zone_k", "", "k in the first Brillouin zone", NULL},
        {"zone_l", "", "l in the first Brillouin zone", NULL},
        {"q", "1/angstrom", "Length of the scattering vector, 2 pi included", NULL},
        {"zone_q", "1/angstrom", "Length of q in the first Brillouin zone, 2 pi included", NULL}};
    enum { PLANES = sizeof planes / sizeof *planes };
    const sxi_fit_file *fit = &d->run[0].fit;
    const size_t each = (size_t)d->runs * (size_t)fit->npix;
    int64_t shape[SX_MAX_RANK] = {d->runs};
    sx_status status = SX_OK;
    memcpy(shape + 1, fit->shape, (size_t)fit->rank * sizeof *shape);
    double *memory = malloc(PLANES * each * sizeof *memory);
    if (!memory) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for q of %zu pixels", each);
    }
    for (int p = 0; p < PLANES; p++) {
        planes[p].value = memory + (size_t)p * each;
    }
    fill_planes(d, planes);
    for (int p = 0; p < PLANES; p++) {
        char name[64];
        sx_array array;
        snprintf(name, sizeof name, "/pixels/%s", planes[p].name);
        SXI_GO(sx_array_view(SX_F64, fit->rank + 1, shape, planes[p].value, &array));
        SXI_GO(sxi_h5_write(writer, name, &array, planes[p].unit, planes[p].sentence));
    }
    SXI_GO(sxi_h5_set_text(writer, "/pixels", "frame",
                           "h, k, l of the cell as given, at the angles of each run (first axis)"));
out:
    free(memory);
    return status;
}
