/* SPDX-License-Identifier: Apache-2.0
 * pixels.h5: positions, scattering vectors and Miller indices of all pixels, band after band of rows.
 * Theory: docs/theory/geometry.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/crystal.h>
#include <sextant/pixels.h>

#include "base/fail.h"
#include "base/output.h"
#include "engine/launcher.h"
#include "io/hdf5/h5file.h"

enum { BAND_PIXELS = 1 << 20 };

/* What a field needs to be known. */
typedef enum need { POSITION, DISTANCE, WAVELENGTH, ORIENTATION } need;

/* Positions are doubles: floats would be off by 3e-8 m at a distance of a metre. The others have
 * seven digits, more than any detector is known to. */
typedef struct field {
    const char *name;
    sx_dtype dtype;
    need need;
    const char *unit, *sentence;
} field;

enum { X, Y, Z, QX, QY, QZ, Q, TWO_THETA, H, K, L, FIELDS };

static const field FIELD[FIELDS] = {
    {"/pixels/x", SX_F64, POSITION, "m", "position to the left looking downstream"},
    {"/pixels/y", SX_F64, POSITION, "m", "position upwards"},
    {"/pixels/z", SX_F64, DISTANCE, "m", "position along the beam"},
    {"/pixels/qx", SX_F32, WAVELENGTH, "1/Angstrom", "scattering vector to the left, with 2 pi"},
    {"/pixels/qy", SX_F32, WAVELENGTH, "1/Angstrom", "scattering vector upwards, with 2 pi"},
    {"/pixels/qz", SX_F32, WAVELENGTH, "1/Angstrom", "scattering vector along the beam, with 2 pi"},
    {"/pixels/q", SX_F32, WAVELENGTH, "1/Angstrom", "length of the scattering vector, with 2 pi"},
    {"/pixels/two_theta", SX_F32, DISTANCE, "rad", "scattering angle"},
    {"/pixels/h", SX_F32, ORIENTATION, "1", "h of the cell as given"},
    {"/pixels/k", SX_F32, ORIENTATION, "1", "k of the cell as given"},
    {"/pixels/l", SX_F32, ORIENTATION, "1", "l of the cell as given"},
};

typedef struct run {
    const sx_geometry *geometry;
    const sx_geometry_facts *facts;
    const sx_crystal *crystal; /* NULL: none */
    const sx_context *context;
    double k;      /* 2 pi / wavelength, 1/Angstrom; NaN */
    double hkl[9]; /* q to (h, k, l) */
    int64_t rows, columns, band_rows;
    sx_array band[FIELDS], mask; /* [band_rows][columns]; empty where nothing is to be written */
    sx_xani_pixels_summary summary;
} run;

static bool wanted(const run *r, int f) {
    return FIELD[f].need != ORIENTATION || r->crystal != NULL;
}

/* Otherwise every value is missing, which the fill value says. */
static bool known(const run *r, int f) {
    const bool distance = r->facts->has_distance;
    return wanted(r, f) &&
           (FIELD[f].need == POSITION || (distance && (FIELD[f].need == DISTANCE || !isnan(r->k))));
}

/* --- one row --- */

/* Extremes of the pixels that are used; NaN compares as neither. */
typedef struct range {
    double q_least, q_most, angle_least, angle_most;
} range;

static void take(range *to, double q, double angle) {
    to->q_least = q < to->q_least ? q : to->q_least;
    to->q_most = q > to->q_most ? q : to->q_most;
    to->angle_least = angle < to->angle_least ? angle : to->angle_least;
    to->angle_most = angle > to->angle_most ? angle : to->angle_most;
}

/* q = k (r / |r| - z). 1 - cos of the angle is written so that it does not cancel near the beam. */
static void scatter(const run *r, int64_t at, const uint8_t *mask, range *seen) {
    const double x = ((const double *)r->band[X].data)[at];
    const double y = ((const double *)r->band[Y].data)[at];
    const double z = ((const double *)r->band[Z].data)[at];
    const double across = x * x + y * y, length = sqrt(across + z * z);
    const double less = z > 0 ? across / (length * (length + z)) : 1 - z / length;
    const double q[3] = {r->k * x / length, r->k * y / length, -r->k * less};
    const double size = r->k * sqrt(2 * less), angle = atan2(sqrt(across), z);
    ((float *)r->band[TWO_THETA].data)[at] = (float)angle;
    if (!isnan(r->k)) {
        for (int d = 0; d < 3; d++) {
            ((float *)r->band[QX + d].data)[at] = (float)q[d];
        }
        ((float *)r->band[Q].data)[at] = (float)size;
    }
    for (int d = 0; d < 3 && r->crystal && !isnan(r->k); d++) {
        const double *m = r->hkl + 3 * d;
        ((float *)r->band[H + d].data)[at] = (float)(m[0] * q[0] + m[1] * q[1] + m[2] * q[2]);
    }
    if (!*mask) {
        take(seen, size, angle);
    }
}

static void fill_row(const run *r, int64_t first, int64_t row, range *seen) {
    const int64_t at = row * r->columns;
    /* Rows are those of the geometry itself: it cannot fail. */
    (void)sx_geometry_place(r->geometry, first + row, 1, (double *)r->band[X].data + at,
                            (double *)r->band[Y].data + at, (double *)r->band[Z].data + at);
    const uint8_t *mask = sx_geometry_mask(r->geometry) + (first + row) * r->columns;
    for (int64_t i = 0; i < r->columns && r->facts->has_distance; i++) {
        scatter(r, at + i, mask + i, seen);
    }
}

static void fill_band(run *r, int64_t first, int64_t rows) {
    sx_xani_pixels_summary *s = &r->summary;
#pragma omp parallel num_threads(sx_threads(r->context))
    {
        range seen = {INFINITY, -INFINITY, INFINITY, -INFINITY};
#pragma omp for schedule(static)
        for (int64_t row = 0; row < rows; row++) {
            fill_row(r, first, row, &seen);
        }
#pragma omp critical
        {
            s->q_least = fmin(s->q_least, seen.q_least);
            s->q_most = fmax(s->q_most, seen.q_most);
            s->two_theta_least = fmin(s->two_theta_least, seen.angle_least);
            s->two_theta_most = fmax(s->two_theta_most, seen.angle_most);
        }
    }
}

/* --- the file --- */

/* Rows of a band as a box of the dataset: of one segment where there are segments. */
static sx_status write_rows(const run *r, sxi_h5_writer *writer, const char *name, sx_dtype dtype,
                            void *data, int64_t first, int64_t rows) {
    const int rank = r->facts->rank;
    const int64_t of = r->facts->shape[rank - 2];
    const int64_t start[] = {first / of, first % of, 0}, shape[] = {1, rows, r->columns};
    sx_array view;
    SXI_TRY(sx_array_view(dtype, rank, rank == 3 ? shape : shape + 1, data, &view));
    return sxi_h5_write_box(writer, name, rank == 3 ? start : start + 1, &view);
}

static sx_status write_band(run *r, sxi_h5_writer *writer, int64_t first, int64_t rows) {
    fill_band(r, first, rows);
    for (int f = 0; f < FIELDS; f++) {
        if (known(r, f)) {
            SXI_TRY(
                write_rows(r, writer, FIELD[f].name, FIELD[f].dtype, r->band[f].data, first, rows));
        }
    }
    memcpy(r->mask.data, sx_geometry_mask(r->geometry) + first * r->columns,
           (size_t)(rows * r->columns));
    return write_rows(r, writer, "/pixels/mask", SX_U8, r->mask.data, first, rows);
}

static sx_status write_bands(run *r, sxi_h5_writer *writer) {
    const int64_t of = r->facts->shape[r->facts->rank - 2]; /* rows of a segment */
    for (int64_t first = 0, rows; first < r->rows; first += rows) {
        rows = r->band_rows < of - first % of ? r->band_rows : of - first % of;
        if (sx_cancelled(r->context)) {
            return SXI_FAIL(SX_ERR_CANCELLED, "cancelled at row %lld of %lld", (long long)first,
                            (long long)r->rows);
        }
        SXI_TRY(write_band(r, writer, first, rows));
        sx_progress(r->context, "rows", first + rows, r->rows);
    }
    return SX_OK;
}

static sx_status create_band(run *r) {
    const int64_t of = r->facts->shape[r->facts->rank - 2], most = BAND_PIXELS / r->columns;
    r->band_rows = most < 1 ? 1 : most > of ? of : most;
    const int64_t shape[] = {r->band_rows, r->columns};
    SXI_TRY(sx_array_create(SX_U8, 2, shape, &r->mask));
    for (int f = 0; f < FIELDS; f++) {
        if (wanted(r, f)) {
            SXI_TRY(sx_array_create(FIELD[f].dtype, 2, shape, &r->band[f]));
        }
    }
    return SX_OK;
}

static const char *const SCALES[] = {"/pixels/segment", "/pixels/row", "/pixels/column"};

static sx_status write_scales(const run *r, sxi_h5_writer *writer) {
    static const char *const words[] = {"segment", "row (pixel)", "column (pixel)"};
    for (int d = 0; d < r->facts->rank; d++) {
        const int from = 3 - r->facts->rank + d;
        sx_array numbers;
        SXI_TRY(sx_array_create(SX_I64, 1, &r->facts->shape[d], &numbers));
        for (int64_t i = 0; i < r->facts->shape[d]; i++) {
            ((int64_t *)numbers.data)[i] = i;
        }
        const sx_status status = sxi_h5_write(writer, SCALES[from], &numbers, "", words[from]);
        sx_array_destroy(&numbers);
        SXI_TRY(status);
    }
    return SX_OK;
}

static sx_status create_field(const run *r, sxi_h5_writer *writer, const char *name, sx_dtype dtype,
                              const char *unit, const char *sentence) {
    const int rank = r->facts->rank;
    SXI_TRY(sxi_h5_dataset_create(writer, name, dtype, rank, r->facts->shape, unit, sentence));
    for (int d = 0; d < rank; d++) {
        SXI_TRY(sxi_h5_attach_scale(writer, name, d, SCALES[3 - rank + d]));
    }
    return SX_OK;
}

static sx_status create_fields(const run *r, sxi_h5_writer *writer) {
    for (int f = 0; f < FIELDS; f++) {
        if (wanted(r, f)) {
            SXI_TRY(create_field(r, writer, FIELD[f].name, FIELD[f].dtype, FIELD[f].unit,
                                 FIELD[f].sentence));
        }
    }
    return create_field(r, writer, "/pixels/mask", SX_U8, "",
                        "0: good; 1: bad by the geometry; 2: outside of every panel; 3: both");
}

static sx_status write_number(sxi_h5_writer *writer, const char *name, double value,
                              const char *unit, const char *sentence) {
    sx_array number;
    SXI_TRY(sx_array_view(SX_F64, 0, NULL, &value, &number));
    return sxi_h5_write(writer, name, &number, unit, sentence);
}

static sx_status write_attributes(const run *r, sxi_h5_writer *writer) {
    static const char *const axes[] = {"segment", "row", "column"};
    const sx_geometry_facts *f = r->facts;
    const int64_t hand = f->handedness;
    const char *signal = known(r, Q) ? "q" : known(r, TWO_THETA) ? "two_theta" : "x";
    SXI_TRY(sxi_h5_set_text(writer, "/", "NX_class", "NXroot"));
    SXI_TRY(sxi_h5_set_text(writer, "/", "default", "pixels"));
    SXI_TRY(sxi_h5_set_text(writer, "/pixels", "NX_class", "NXdata"));
    SXI_TRY(sxi_h5_set_text(writer, "/pixels", "signal", signal));
    SXI_TRY(sxi_h5_set_texts(writer, "/pixels", "axes", f->rank, axes + 3 - f->rank));
    SXI_TRY(sxi_h5_set_text(writer, "/pixels", "frame",
                            "NeXus/McStas: origin at the sample, z along the beam, y up, x to the "
                            "left looking downstream; positions are centres of pixels; q = 2 pi / "
                            "wavelength (r/|r| - z)"));
    SXI_TRY(sxi_h5_set_text(writer, "/pixels", "geometry", sx_geometry_kind_name(f->kind)));
    SXI_TRY(sxi_h5_set_text(writer, "/pixels", "detector", f->detector));
    SXI_TRY(sxi_h5_set_text(writer, "/pixels", "segment_model", f->segment));
    SXI_TRY(sxi_h5_set_ints(writer, "/pixels", "handedness", 1, &hand));
    SXI_TRY(
        sxi_h5_set_text(writer, "/pixels", "handedness_meaning",
                        "1: with row 0 on top and column 0 on the left a frame is what one sees "
                        "from the sample looking downstream; -1: its mirror image; 0: panels "
                        "differ"));
    if (r->crystal) {
        SXI_TRY(sxi_h5_set_text(writer, "/pixels", "goniometer",
                                "h, k, l are those with all angles zero that are not fixed"));
    }
    SXI_TRY(write_number(writer, "/pixels/photon_energy", f->photon_energy, "eV", "photon energy"));
    return write_number(writer, "/pixels/wavelength", f->wavelength * 1e10, "Angstrom",
                        "wavelength");
}

static void say(const run *r) {
    if (!r->facts->has_distance) {
        sx_log(r->context, SX_LOG_WARNING,
               "the distance of the detector is not known: z, two_theta and all that follow from "
               "them are NaN");
    } else if (isnan(r->k)) {
        sx_log(r->context, SX_LOG_WARNING,
               "the photon energy is not known: qx, qy, qz, q%s are NaN; say --photon-energy EV",
               r->crystal ? ", h, k, l" : "");
    }
    for (int i = 0; r->crystal && i < r->crystal->axes; i++) {
        if (r->crystal->axis[i].dataset) {
            sx_log(r->context, SX_LOG_WARNING,
                   "the goniometer axis %s varies with the run; h, k, l are those with it at 0",
                   r->crystal->axis[i].name);
        }
    }
}

/* --- all of it --- */

static sx_status prepare(const sx_xani_pixels_options *o, const sx_context *context,
                         sx_geometry **geometry, sx_crystal **crystal, run *r) {
    const sx_geometry_options options = {o->data, o->photon_energy, context};
    if (o->crystal) {
        SXI_TRY(sx_crystal_read(o->crystal, crystal));
        SXI_TRY(sx_crystal_hkl_matrix(*crystal, NULL, r->hkl));
    }
    SXI_TRY(sx_geometry_read(o->geometry, &options, geometry));
    r->geometry = *geometry;
    r->crystal = *crystal;
    r->context = context;
    r->facts = sx_geometry_facts_of(*geometry);
    r->k = 2 * 3.14159265358979323846 / (r->facts->wavelength * 1e10);
    r->columns = r->facts->shape[r->facts->rank - 1];
    r->rows = r->facts->pixels / r->columns;
    r->summary = (sx_xani_pixels_summary){*r->facts, INFINITY, -INFINITY, INFINITY, -INFINITY};
    say(r);
    return create_band(r);
}

static int64_t bytes_of(const run *r) {
    int64_t bytes = 1; /* the mask */
    for (int f = 0; f < FIELDS; f++) {
        bytes += known(r, f) ? (int64_t)sx_dtype_size(FIELD[f].dtype) : 0;
    }
    return bytes * r->facts->pixels;
}

static double finite_or_nan(double value) { return isfinite(value) ? value : (double)NAN; }

static void hand_over(const run *r, sx_xani_pixels_summary *summary) {
    *summary = r->summary;
    summary->q_least = finite_or_nan(summary->q_least);
    summary->q_most = finite_or_nan(summary->q_most);
    summary->two_theta_least = finite_or_nan(summary->two_theta_least);
    summary->two_theta_most = finite_or_nan(summary->two_theta_most);
}

sx_status sx_xani_pixels(const sx_xani_pixels_options *options, const char *output,
                         const sx_context *context, sx_xani_pixels_summary *summary) {
    const char *inputs[3];
    int count = 0;
    const char *const named[] = {options->geometry, options->data, options->crystal};
    for (int i = 0; i < 3; i++) {
        if (named[i]) {
            inputs[count++] = named[i];
        }
    }
    SXI_TRY(sxi_launcher_alone("xani pixels"));
    SXI_TRY(sxi_output_check(output, options->overwrite, count, inputs));
    sx_status status = SX_OK;
    run r = {0};
    sx_geometry *geometry = NULL;
    sx_crystal *crystal = NULL;
    sxi_h5_writer *writer = NULL;
    SXI_GO(prepare(options, context, &geometry, &crystal, &r));
    SXI_GO(sxi_output_room(output, bytes_of(&r)));
    SXI_GO(sxi_h5_create(output, options->overwrite, &writer));
    SXI_GO(write_scales(&r, writer));
    SXI_GO(create_fields(&r, writer));
    SXI_GO(write_bands(&r, writer));
    SXI_GO(write_attributes(&r, writer));
    SXI_GO(sxi_h5_provenance(writer, context, count, inputs));
    SXI_GO(sxi_h5_commit(&writer));
    if (summary) {
        hand_over(&r, summary);
    }
out:
    sxi_h5_abandon(&writer);
    for (int f = 0; f < FIELDS; f++) {
        sx_array_destroy(&r.band[f]);
    }
    sx_array_destroy(&r.mask);
    sx_crystal_destroy(&crystal);
    sx_geometry_destroy(&geometry);
    return status;
}
