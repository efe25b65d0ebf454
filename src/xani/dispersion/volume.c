/* SPDX-License-Identifier: Apache-2.0
 * Runs of several orientations on one grid over (h, k, l): of the strongest mode of each pixel. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "xani/dispersion/dispersion.h"

/* Voxels along one axis. */
enum { MOST = 512 };

typedef struct volume {
    int64_t shape[3];
    double first[3], step;                           /* centre of voxel 0 */
    double *weight, *frequency, *amplitude, *square; /* sums of 1 / error^2 and with it */
    int64_t *count;
} volume;

/* The strongest tone; NULL: none. */
static const sxi_tone *strongest(const sxi_tone *tone) {
    const sxi_tone *best = NULL;
    for (int m = 0; m < SX_DCOS_MAX_MODES; m++) {
        if (isfinite(tone[m].frequency) && (!best || tone[m].amplitude > best->amplitude)) {
            best = &tone[m];
        }
    }
    return best;
}

/* The voxels that hold all pixels. */
static sx_status make(const sxi_dispersion *d, volume *v) {
    double low[3] = {(double)INFINITY, (double)INFINITY, (double)INFINITY};
    double high[3] = {(double)-INFINITY, (double)-INFINITY, (double)-INFINITY};
    *v = (volume){.step = d->options->voxel > 0 ? d->options->voxel : 0.05};
    for (int r = 0; r < d->runs; r++) {
        for (int64_t i = 0; i < 3 * d->run[r].fit.npix; i++) {
            low[i % 3] = fmin(low[i % 3], d->run[r].hkl[i]);
            high[i % 3] = fmax(high[i % 3], d->run[r].hkl[i]);
        }
    }
    size_t n = 1;
    for (int j = 0; j < 3; j++) {
        v->first[j] = round(low[j] / v->step) * v->step;
        const double extent = round(high[j] / v->step) - round(low[j] / v->step) + 1;
        if (!(extent <= MOST)) {
            return SXI_FAIL(
                SX_ERR_RANGE,
                "the pixels span %.3g to %.3g along %c, more than %d voxels of %g: give "
                "--voxel a larger size",
                low[j], high[j], "hkl"[j], MOST, v -> step);
        }
        v->shape[j] = (int64_t)extent;
        n *= (size_t)v->shape[j];
    }
    v->weight = calloc(4 * n, sizeof *v->weight);
    v->count = calloc(n, sizeof *v->count);
    if (!v->weight || !v->count) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a volume of %zu voxels", n);
    }
    v->frequency = v->weight + n;
    v->amplitude = v->weight + 2 * n;
    v->square = v->weight + 3 * n;
    return SX_OK;
}

static void add(volume *v, const double hkl[3], const sxi_tone *tone) {
    int64_t at = 0;
    for (int j = 0; j < 3; j++) {
        at = at * v->shape[j] + (int64_t)lround((hkl[j] - v->first[j]) / v->step);
    }
    const double w = 1 / (tone->error * tone->error);
    v->weight[at] += w;
    v->frequency[at] += w * tone->frequency;
    v->square[at] += w * tone->frequency * tone->frequency;
    v->amplitude[at] += w * tone->amplitude;
    v->count[at]++;
}

static sx_status add_run(const sxi_dispersion *d, int r, volume *v) {
    const sxi_sheet_run *run = &d->run[r];
    sxi_tone *tones = NULL;
    SXI_TRY(sxi_dispersion_tones(d, r, &tones));
    for (int64_t i = 0; i < run->fit.npix; i++) {
        const sxi_tone *tone = strongest(tones + i * SX_DCOS_MAX_MODES);
        if (tone && isfinite(run->q[i])) {
            add(v, run->hkl + 3 * i, tone);
        }
    }
    free(tones);
    return SX_OK;
}

/* Sums become means: frequency with the error that its members tell, or their scatter if larger. */
static void settle(volume *v) {
    const int64_t n = v->shape[0] * v->shape[1] * v->shape[2];
    for (int64_t i = 0; i < n; i++) {
        const double w = v->weight[i], mean = v->frequency[i] / w;
        const double scatter = v->square[i] - w * mean * mean;
        const double spare = fmax((double)v->count[i] - 1, 1);
        v->square[i] = sqrt(fmax(1, scatter / spare) / w);
        v->frequency[i] = mean;
        v->amplitude[i] /= w;
        if (v->count[i] == 0) {
            v->frequency[i] = v->amplitude[i] = v->square[i] = (double)NAN;
        }
    }
}

static sx_status write_axis(const volume *v, int j, sxi_h5_writer *writer) {
    const char name[] = {'/', 'v', 'o', 'l', 'u', 'm', 'e', '/', "hkl"[j], 0};
    double *centre = malloc((size_t)v->shape[j] * sizeof *centre);
    if (!centre) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for an axis");
    }
    for (int64_t i = 0; i < v->shape[j]; i++) {
        centre[i] = v->first[j] + v->step * (double)i;
    }
    sx_array array;
    sx_status status = sx_array_view(SX_F64, 1, &v->shape[j], centre, &array);
    if (status == SX_OK) {
        status = sxi_h5_write(writer, name, &array, "", "Centres of the voxels");
    }
    free(centre);
    return status;
}

static sx_status write(const volume *v, sxi_h5_writer *writer) {
    const struct {
        const char *name, *unit, *sentence;
        sx_dtype dtype;
        void *value;
    } maps[] = {{"/volume/frequency", "THz", "Frequency of the strongest mode, mean over pixels",
                 SX_F64, v->frequency},
                {"/volume/frequency_errors", "THz", "One standard deviation of that mean", SX_F64,
                 v->square},
                {"/volume/amplitude", "", "Amplitude of the strongest mode, mean over pixels",
                 SX_F64, v->amplitude},
                {"/volume/count", "", "Pixels in the voxel", SX_I64, v->count}};
    for (int j = 0; j < 3; j++) {
        SXI_TRY(write_axis(v, j, writer));
    }
    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++) {
        sx_array array;
        SXI_TRY(sx_array_view(maps[m].dtype, 3, v->shape, maps[m].value, &array));
        SXI_TRY(sxi_h5_write(writer, maps[m].name, &array, maps[m].unit, maps[m].sentence));
        SXI_TRY(sxi_h5_attach_scale(writer, maps[m].name, 0, "/volume/h"));
        SXI_TRY(sxi_h5_attach_scale(writer, maps[m].name, 1, "/volume/k"));
        SXI_TRY(sxi_h5_attach_scale(writer, maps[m].name, 2, "/volume/l"));
    }
    SXI_TRY(sxi_h5_set_text(writer, "/volume", "NX_class", "NXdata"));
    SXI_TRY(sxi_h5_set_text(writer, "/volume", "signal", "frequency"));
    static const char *const axes[] = {"h", "k", "l"};
    return sxi_h5_set_texts(writer, "/volume", "axes", 3, axes);
}

sx_status sxi_dispersion_volume(const sxi_dispersion *d, sxi_h5_writer *writer) {
    volume v = {0};
    sx_status status = SX_OK;
    SXI_GO(make(d, &v));
    for (int r = 0; r < d->runs; r++) {
        SXI_GO(add_run(d, r, &v));
    }
    settle(&v);
    SXI_GO(write(&v, writer));
out:
    free(v.weight);
    free(v.count);
    return status;
}
