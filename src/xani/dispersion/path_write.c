/* SPDX-License-Identifier: Apache-2.0
 * The path as datasets: points, their spectrum, calculated bands and what differs from them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/dispersion/dispersion.h"

/* Of the spectrum, and of calculated bands. */
enum { DISTANCES = 200, FREQUENCIES = 200, PER_SEGMENT = 100 };

static sx_status write_list(sxi_h5_writer *writer, const char *name, sx_dtype dtype, int64_t count,
                            void *values, const char *unit, const char *sentence) {
    sx_array array;
    SXI_TRY(sx_array_view(dtype, 1, &count, values, &array));
    return sxi_h5_write(writer, name, &array, unit, sentence);
}

/* --- points --- */

static sx_status write_points(const sxi_path *path, sxi_h5_writer *writer) {
    static const struct {
        const char *name, *unit, *sentence;
    } columns[] = {{"/path/distance", "1/angstrom", "Along the path, 2 pi included"},
                   {"/path/aside", "1/angstrom", "Distance of the pixel from the path"},
                   {"/path/frequency", "THz", "Of the phonon by the branch rule"},
                   {"/path/frequency_errors", "THz", "One standard deviation"},
                   {"/path/amplitude", "", "Of the oscillation of intensity"}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const size_t n = (size_t)path->points;
    sx_status status = SX_OK;
    double *value = malloc((COLUMNS * n + 1) * sizeof *value);
    int64_t *index = malloc((2 * n + 1) * sizeof *index);
    if (!value || !index) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for the points of a path");
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        const sxi_path_point *p = &path->point[i];
        const double row[COLUMNS] = {p->distance, p->aside, p->tone.frequency, p->tone.error,
                                     p->tone.amplitude};
        for (int c = 0; c < COLUMNS; c++) {
            value[(size_t)c * n + i] = row[c];
        }
        index[i] = p->run;
        index[n + i] = p->pixel;
    }
    for (int c = 0; c < COLUMNS; c++) {
        SXI_GO(write_list(writer, columns[c].name, SX_F64, path->points, value + (size_t)c * n,
                          columns[c].unit, columns[c].sentence));
    }
    SXI_GO(write_list(writer, "/path/run", SX_I64, path->points, index, "",
                      "Number of the run, from 0"));
    SXI_GO(write_list(writer, "/path/pixel", SX_I64, path->points, index + n, "",
                      "Number of the pixel in the maps of its run, from 0"));
out:
    free(value);
    free(index);
    return status;
}

static sx_status write_stops(const sxi_path *path, sxi_h5_writer *writer) {
    const char **label = malloc((size_t)path->count * sizeof *label);
    if (!label) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the names of a path");
    }
    for (int s = 0; s < path->count; s++) {
        label[s] = path->stop[s].label;
    }
    sx_status status = sxi_h5_write_texts(writer, "/path/label", path->count, label);
    free(label);
    SXI_TRY(status);
    return write_list(writer, "/path/label_distance", SX_F64, path->count, path->at, "1/angstrom",
                      "Where along the path the named points lie");
}

/* --- the spectrum --- */

static double highest(const sxi_path *path) {
    double most = 0;
    for (int64_t i = 0; i < path->points; i++) {
        most = fmax(most, path->point[i].tone.frequency);
    }
    return most > 0 ? 1.1 * most : 1;
}

/* Each tone is a Gaussian of the area of its squared amplitude and the width of its error, or of a
 * bin, divided by how many tones the bin of distances holds. */
static void fill_spectrum(const sxi_path *path, double top, double *spectrum) {
    const double length = path->at[path->count - 1], bin = top / FREQUENCIES;
    double *count = spectrum + DISTANCES * FREQUENCIES;
    for (int64_t i = 0; i < path->points; i++) {
        const sxi_path_point *p = &path->point[i];
        const int at = (int)fmin(p->distance / length * DISTANCES, DISTANCES - 1);
        const double width = fmax(p->tone.error, bin), area = p->tone.amplitude * p->tone.amplitude;
        count[at] += 1;
        for (int f = 0; f < FREQUENCIES; f++) {
            const double off = ((f + 0.5) * bin - p->tone.frequency) / width;
            spectrum[at * FREQUENCIES + f] +=
                area * exp(-off * off / 2) / (width * 2.5066282746310002);
        }
    }
    for (int i = 0; i < DISTANCES * FREQUENCIES; i++) {
        spectrum[i] /= fmax(count[i / FREQUENCIES], 1);
    }
}

static sx_status write_spectrum(const sxi_path *path, sxi_h5_writer *writer) {
    static const char *const name = "/path/spectrum";
    const int64_t shape[] = {DISTANCES, FREQUENCIES};
    const double length = path->at[path->count - 1], top = highest(path);
    double distance[DISTANCES], frequency[FREQUENCIES];
    double *spectrum = calloc(DISTANCES * FREQUENCIES + DISTANCES, sizeof *spectrum);
    sx_array array;
    sx_status status = SX_OK;
    if (!spectrum) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a spectrum");
    }
    fill_spectrum(path, top, spectrum);
    for (int i = 0; i < DISTANCES; i++) {
        distance[i] = (i + 0.5) * length / DISTANCES;
    }
    for (int i = 0; i < FREQUENCIES; i++) {
        frequency[i] = (i + 0.5) * top / FREQUENCIES;
    }
    SXI_GO(sx_array_view(SX_F64, 2, shape, spectrum, &array));
    SXI_GO(write_list(writer, "/path/spectrum_distance", SX_F64, DISTANCES, distance, "1/angstrom",
                      "Middles of the bins along the path"));
    SXI_GO(write_list(writer, "/path/spectrum_frequency", SX_F64, FREQUENCIES, frequency, "THz",
                      "Middles of the bins of frequency"));
    SXI_GO(sxi_h5_write(writer, name, &array, "1/THz",
                        "Squared amplitude per frequency, mean over the pixels of a bin"));
    SXI_GO(sxi_h5_attach_scale(writer, name, 0, "/path/spectrum_distance"));
    SXI_GO(sxi_h5_attach_scale(writer, name, 1, "/path/spectrum_frequency"));
out:
    free(spectrum);
    return status;
}

/* --- calculated bands --- */

/* What the nearest calculated frequency is, by the branch rule: of a band, or of a sum or difference
 * of two. */
static double nearest(const double *band, int bands, sx_branch branch, double frequency) {
    double best = (double)INFINITY;
    for (int i = 0; i < bands; i++) {
        if (branch != SX_BRANCH_SUM) {
            best = fabs(band[i] - frequency) < fabs(best - frequency) ? band[i] : best;
            continue;
        }
        for (int j = i; j < bands; j++) {
            const double sum = band[i] + band[j], difference = fabs(band[i] - band[j]);
            best = fabs(sum - frequency) < fabs(best - frequency) ? sum : best;
            best =
                j > i && fabs(difference - frequency) < fabs(best - frequency) ? difference : best;
        }
    }
    return best;
}

static sx_status write_bands(const sxi_dispersion *d, const sxi_path *path, sxi_h5_writer *writer) {
    const int bands = d->bands.count;
    const int64_t n = (int64_t)(path->count - 1) * PER_SEGMENT;
    const int64_t shape[] = {n, bands};
    sx_array array;
    sx_status status = SX_OK;
    double *distance = malloc((size_t)(n * (bands + 1)) * sizeof *distance);
    if (!distance) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for calculated bands");
    }
    double *frequency = distance + n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t s = i / PER_SEGMENT;
        const double t = (double)(i % PER_SEGMENT) / (PER_SEGMENT - 1);
        double hkl[3];
        for (int j = 0; j < 3; j++) {
            hkl[j] = (1 - t) * path->stop[s].hkl[j] + t * path->stop[s + 1].hkl[j];
        }
        distance[i] = (1 - t) * path->at[s] + t * path->at[s + 1];
        SXI_GO(sxi_bands_at(&d->bands, hkl, frequency + i * bands));
    }
    SXI_GO(sx_array_view(SX_F64, 2, shape, frequency, &array));
    SXI_GO(write_list(writer, "/path/band_distance", SX_F64, n, distance, "1/angstrom",
                      "Along the path"));
    SXI_GO(sxi_h5_write(writer, "/path/bands", &array, "THz",
                        d->bands.phonons ? "Calculated from force constants"
                                         : "Calculated, from a table"));
    SXI_GO(sxi_h5_attach_scale(writer, "/path/bands", 0, "/path/band_distance"));
out:
    free(distance);
    return status;
}

static sx_status write_residuals(const sxi_dispersion *d, const sxi_path *path,
                                 sxi_h5_writer *writer) {
    const int bands = d->bands.count;
    double *band = malloc(((size_t)bands + (size_t)path->points) * sizeof *band), square = 0;
    sx_status status = SX_OK;
    if (!band) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for residuals");
    }
    double *residual = band + bands;
    int64_t compared = 0;
    for (int64_t i = 0; i < path->points; i++) {
        const sxi_path_point *p = &path->point[i];
        SXI_GO(sxi_bands_at(&d->bands, p->hkl, band));
        residual[i] = (double)NAN;
        if (isfinite(band[0])) {
            residual[i] =
                p->tone.frequency - nearest(band, bands, d->options->branch, p->tone.frequency);
            square += residual[i] * residual[i];
            compared++;
        }
    }
    d->summary->residual = sqrt(square / (double)compared);
    SXI_GO(write_list(writer, "/path/residual", SX_F64, path->points, residual, "THz",
                      "Frequency less the nearest that is calculated at the same place"));
out:
    free(band);
    return status;
}

sx_status sxi_dispersion_path(const sxi_dispersion *d, sxi_h5_writer *writer) {
    sxi_path path;
    sx_status status = SX_OK;
    SXI_GO(sxi_path_find(d, &path));
    d->summary->points = path.points;
    if (path.points == 0) {
        sx_log(d->context, SX_LOG_WARNING,
               "no pixel in state ok lies on the path %s: the radius is %g 1/Angstrom",
               d->options->path, d->options->radius > 0 ? d->options->radius : 0.02);
    }
    SXI_GO(write_points(&path, writer));
    SXI_GO(write_stops(&path, writer));
    SXI_GO(write_spectrum(&path, writer));
    if (d->bands.count > 0) {
        SXI_GO(write_bands(d, &path, writer));
        SXI_GO(write_residuals(d, &path, writer));
    }
out:
    sxi_path_free(&path);
    return status;
}
