/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <jansson.h>

#include <sextant/pixels.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *geometry, *data, *crystal, *output;
    double photon_energy;
} values;

static const values defaults;

static const sx_option options[] = {
    CLI_OPTION(values, geometry, TEXT, "geometry", "FILE",
               "PONI, CrystFEL .geom, psana geometry .data or NeXus; required"),
    CLI_OPTION(values, data, TEXT, "data", "FILE",
               "the HDF5 file with the frames, where a .geom names datasets of it"),
    CLI_OPTION(values, crystal, TEXT, "crystal", "FILE",
               "crystal.yaml with an orientation: adds h, k, l"),
    CLI_RANGE(values, photon_energy, REAL, "photon-energy", "EV",
              "photon energy in eV; default: what the files say, else q is NaN", 1, 1e9),
    CLI_OUTPUT(values, output, "FILE", "the pixels.h5 to write; required"),
    CLI_COMMON_OPTIONS};

static const char *hand(int handedness) {
    return handedness > 0   ? "as seen from the sample"
           : handedness < 0 ? "a mirror image of what is seen from the sample"
                            : "panels differ";
}

static json_t *shape_of(const sx_geometry_facts *f) {
    json_t *shape = json_array();
    for (int d = 0; d < f->rank; d++) {
        json_array_append_new(shape, json_integer(f->shape[d]));
    }
    return shape;
}

static bool append(void *data, const char *name) {
    return json_array_append_new(data, cli_json_text(name)) == 0;
}

/* The frames of a data file that a .geom names; null for other kinds, or where there are none. */
static json_t *frames_of(const values *v, const sx_geometry_facts *f) {
    sx_geometry *geometry = NULL;
    json_t *frames = json_array();
    const sx_geometry_options read = {.photon_energy = v->photon_energy};
    if (!v->data || f->kind != SX_GEOMETRY_CRYSTFEL ||
        sx_geometry_read(v->geometry, &read, &geometry) != SX_OK ||
        sx_geometry_frames(geometry, v->data, append, frames) != SX_OK) {
        json_decref(frames);
        frames = json_null();
    }
    sx_geometry_destroy(&geometry);
    return frames;
}

static sx_status print_json(const values *v, const sx_xani_pixels_summary *s) {
    const sx_geometry_facts *f = &s->geometry;
    return cli_print_json(json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:i, s:I, s:I, s:I, s:i, s:b, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:o}",
        "output", cli_json_text(v->output), "kind", sx_geometry_kind_name(f->kind), "detector",
        cli_json_text(f->detector), "segment_model", cli_json_text(f->segment), "shape",
        shape_of(f), "panels", f->panels, "pixels", (json_int_t)f->pixels, "masked",
        (json_int_t)f->masked, "uncovered", (json_int_t)f->uncovered, "handedness", f->handedness,
        "distance_known", (int)f->has_distance, "photon_energy", cli_json_real(f->photon_energy),
        "wavelength", cli_json_real(f->wavelength * 1e10), "q_least", cli_json_real(s->q_least),
        "q_most", cli_json_real(s->q_most), "two_theta_least", cli_json_real(s->two_theta_least),
        "two_theta_most", cli_json_real(s->two_theta_most), "frames", frames_of(v, f)));
}

static void print_report(const values *v, const sx_xani_pixels_summary *s) {
    const sx_geometry_facts *f = &s->geometry;
    printf("wrote %s: %s, ", v->output, sx_geometry_kind_name(f->kind));
    for (int d = 0; d < f->rank; d++) {
        printf("%s%" PRId64, d ? " x " : "", f->shape[d]);
    }
    printf(" pixels, %d panel%s, %" PRId64 " masked\n", f->panels, f->panels == 1 ? "" : "s",
           f->masked);
    if (*f->segment) {
        printf("segments %s\n", f->segment);
    }
    printf("frame    %s\n", hand(f->handedness));
    if (!isnan(s->two_theta_most)) {
        printf("2 theta  %.6g to %.6g degrees\n", s->two_theta_least * 57.29577951308232,
               s->two_theta_most * 57.29577951308232);
    }
    if (!isnan(s->q_most)) {
        printf("q        %.6g to %.6g 1/Angstrom, wavelength %.8g Angstrom\n", s->q_least,
               s->q_most, f->wavelength * 1e10);
    }
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_status status = cli_need(call, v->geometry, "--geometry FILE");
    if (status == SX_OK) {
        status = cli_need(call, v->output, "-o FILE");
    }
    if (status != SX_OK) {
        return status;
    }
    const sx_xani_pixels_options pixels = {.geometry = v->geometry,
                                           .data = v->data,
                                           .crystal = v->crystal,
                                           .photon_energy = v->photon_energy,
                                           .overwrite = v->common.overwrite};
    sx_xani_pixels_summary summary;
    status = sx_xani_pixels(&pixels, v->output, call->context, &summary);
    if (status != SX_OK) {
        return status;
    }
    if (v->common.json) {
        return print_json(v, &summary);
    }
    if (!v->common.quiet) {
        print_report(v, &summary);
    }
    return SX_OK;
}

const cli_command cli_xani_pixels = {
    .group = "xani",
    .name = "pixels",
    .help = {"sextant xani pixels", "where each pixel is, and its scattering vector",
             "--geometry FILE -o pixels.h5 [options]",
             "The kind of geometry is told by its content. Positions are those of centres of\n"
             "pixels from the sample, in metres: z along the beam, y up, x to the left looking\n"
             "downstream. q is in 1/Angstrom and includes 2 pi.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .run = run,
};
