/* SPDX-License-Identifier: Apache-2.0
 * CrystFEL .geom: lines "key = value". Theory: docs/theory/geometry.md. */
#include "io/geometry/crystfel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static void set_defaults(sxi_geom *geom) {
    sxi_geom_panel *d = &geom->defaults;
    for (int i = 0; i < SXI_REALS; i++) {
        d->real[i] = (double)NAN;
    }
    for (int i = 0; i < SXI_GEOM_DIMS; i++) {
        d->dim[i] = SXI_DIM_NONE;
    }
    snprintf(d->data, sizeof d->data, "/data/data");
}

static sx_status read_lines(sxi_geom *geom) {
    for (char *here; (here = sxi_line_next(&geom->line)) != NULL;) {
        here[strcspn(here, ";")] = '\0';
        here = sxi_trim(here);
        char *equals = strchr(here, '=');
        if (*here == '\0' || *here == '#') {
            continue;
        }
        if (!equals) {
            return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: '%.60s' is no 'key = value'",
                            geom->line.path, geom->line.number, here);
        }
        *equals = '\0';
        SXI_TRY(sxi_geom_key(geom, sxi_trim(here), sxi_trim(equals + 1)));
    }
    return SX_OK;
}

/* --- values that may lie in the data file --- */

/* One number, or one of each frame: their mean, if they are the same within the tolerance. */
static sx_status from_data(const sxi_geom *geom, const char *what, const char *path,
                           double tolerance, double *number) {
    static const sx_dtype as = SX_F64;
    sx_array values = {0};
    const char *file = sx_hdf5_path_of(geom->data);
    SXI_TRY(sxi_h5_read(geom->data, path, &as, &values));
    sx_status status = SX_OK;
    const int64_t count = sx_array_count(&values);
    const double *v = values.data;
    double sum = 0, least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        sum += v[i];
        least = fmin(least, v[i]);
        most = fmax(most, v[i]);
    }
    *number = sum / (double)count;
    if (count == 0 || !isfinite(*number)) {
        status = SXI_FAIL(SX_ERR_MISSING, "%s:%s, which is to be the %s, holds no finite numbers",
                          file, path, what);
    } else if (most - least > tolerance * fabs(*number)) {
        status = SXI_FAIL(SX_ERR_UNSUPPORTED,
                          "%s:%s, which is to be the %s, runs from %g to %g: one map of pixels "
                          "stands for frames at one value only",
                          file, path, what, least, most);
    }
    sx_array_destroy(&values);
    return status;
}

sx_status sxi_geom_number(const sxi_geom *geom, const char *what, const sxi_geom_value *value,
                          const sxi_geom_unit *units, double tolerance, double *number,
                          bool *there) {
    const sxi_geom_unit *unit = units;
    *there = value->given && (!value->path[0] || geom->data);
    if (!*there) {
        return SX_OK;
    }
    while (unit->unit && value->unit[0] && strcmp(unit->unit, value->unit) != 0) {
        unit++;
    }
    if (!unit->unit) {
        return SXI_FAIL(SX_ERR_UNIT, "%s: the unit of %s is '%s', expected was %s or %s",
                        geom->line.path, what, value->unit, units[0].unit, units[1].unit);
    }
    *number = value->number;
    if (value->path[0]) {
        SXI_TRY(from_data(geom, what, value->path, tolerance, number));
    }
    *number *= unit->factor;
    return SX_OK;
}

/* --- the beam --- */

/* Relativistic, of electrons: h / sqrt(2 m e V (1 + e V / 2 m c^2)). */
static double electron_wavelength(double volts) {
    const double h = 6.62607015e-34, m = 9.1093837015e-31, e = 1.602176634e-19, c = 299792458;
    return h / sqrt(2 * m * e * volts * (1 + e * volts / (2 * m * c * c)));
}

sx_status sxi_geom_beam(sxi_geom *geom, sx_geometry *g) {
    static const char *const words[] = {"photon_energy", "wavelength", "electron_voltage"};
    static const sxi_geom_unit units[][4] = {
        {{"eV", 1}, {"keV", 1e3}, {"MeV", 1e6}, {NULL, 0}},
        {{"m", 1}, {"A", 1e-10}, {NULL, 0}},
        {{"V", 1}, {"kV", 1e3}, {NULL, 0}},
    };
    /* Energies jitter from shot to shot; a spread of 5 % is not jitter but a scan. */
    const double jitter = 0.05;
    for (int i = SXI_BEAM_ENERGY; i <= SXI_BEAM_VOLTAGE; i++) {
        double value = 0;
        bool there;
        SXI_TRY(
            sxi_geom_number(geom, words[i], &geom->global[i], units[i], jitter, &value, &there));
        if (there && !(value > 0)) {
            return SXI_FAIL(SX_ERR_RANGE, "%s: %s is %g", geom->line.path, words[i], value);
        }
        if (!there && geom->global[i].given && !(g->options.photon_energy > 0)) {
            sx_log(
                g->options.context, SX_LOG_WARNING,
                "%s: the %s is to be found in %s of the data file; name that file, or the energy",
                geom->line.path, words[i], geom->global[i].path);
        } else if (there && i == SXI_BEAM_ENERGY) {
            sxi_geometry_energy(g, value);
        } else if (there && i == SXI_BEAM_WAVELENGTH) {
            sxi_geometry_wavelength(g, value);
        } else if (there && !(g->options.photon_energy > 0)) {
            g->facts.wavelength = electron_wavelength(value);
        }
    }
    return SX_OK;
}

sx_status sxi_geometry_crystfel(sx_geometry *geometry, char *text) {
    sx_status status = SX_OK;
    sxi_geom geom = {.line = {.path = geometry->path, .next = text}};
    set_defaults(&geom);
    SXI_GO(read_lines(&geom));
    if (geometry->options.data) {
        SXI_GO(sx_hdf5_open(geometry->options.data, &geom.data));
        sxi_h5_context_set(geom.data, geometry->options.context);
    }
    SXI_GO(sxi_geom_panels(&geom, geometry));
    SXI_GO(sxi_geom_beam(&geom, geometry));
    SXI_GO(sxi_geom_masks(&geom, geometry));
out:
    sx_hdf5_close(&geom.data);
    free(geom.panel);
    free(geom.bad);
    return status;
}
