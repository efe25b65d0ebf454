/* SPDX-License-Identifier: Apache-2.0
 * NXtransformations: each axis moves what depends on it. Theory: docs/theory/geometry.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "io/geometry/nexus.h"

enum { MOST_AXES = 64 };

sx_status sxi_nexus_join(const char *group, const char *name, char *path) {
    char joined[SXI_NEXUS_PATH];
    const char *between = *group && group[strlen(group) - 1] == '/' ? "" : "/";
    const int n = *name == '/' ? snprintf(joined, sizeof joined, "%s", name)
                               : snprintf(joined, sizeof joined, "%s%s%s", group, between, name);
    if (n >= SXI_NEXUS_PATH) {
        return SXI_FAIL(SX_ERR_RANGE, "a path in the file has more than %d letters: %.60s...",
                        SXI_NEXUS_PATH - 1, joined);
    }
    memcpy(path, joined, (size_t)n + 1);
    return SX_OK;
}

static bool collect(void *data, const char *name, bool is_group) {
    (void)is_group;
    sxi_text_add_bytes(data, name, strlen(name) + 1);
    return true;
}

sx_status sxi_member_names(sx_hdf5 *file, const char *group, char **names, size_t *length) {
    sxi_text all = {0};
    *names = NULL;
    SXI_TRY(sxi_h5_members(file, group, collect, &all));
    *length = all.length;
    *names = sxi_text_take(&all);
    return *names ? SX_OK
                  : SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for the names in %s",
                             sx_hdf5_path_of(file), group);
}

/* --- numbers with units --- */

static const struct {
    const char *unit;
    sxi_quantity quantity;
    double factor;
} UNITS[] = {
    {"m", SXI_LENGTH, 1},
    {"metre", SXI_LENGTH, 1},
    {"meter", SXI_LENGTH, 1},
    {"meters", SXI_LENGTH, 1},
    {"cm", SXI_LENGTH, 1e-2},
    {"mm", SXI_LENGTH, 1e-3},
    {"millimeter", SXI_LENGTH, 1e-3},
    {"um", SXI_LENGTH, 1e-6},
    {"micron", SXI_LENGTH, 1e-6},
    {"microns", SXI_LENGTH, 1e-6},
    {"nm", SXI_LENGTH, 1e-9},
    {"A", SXI_LENGTH, 1e-10},
    {"\xc3\x85", SXI_LENGTH, 1e-10},
    {"angstrom", SXI_LENGTH, 1e-10},
    {"Angstrom", SXI_LENGTH, 1e-10},
    {"angstroms", SXI_LENGTH, 1e-10},
    {"rad", SXI_ANGLE, 1},
    {"deg", SXI_ANGLE, 0.017453292519943295},
    {"degree", SXI_ANGLE, 0.017453292519943295},
    {"degrees", SXI_ANGLE, 0.017453292519943295},
    {"eV", SXI_ENERGY, 1},
    {"ev", SXI_ENERGY, 1},
    {"keV", SXI_ENERGY, 1e3},
    {"kev", SXI_ENERGY, 1e3},
    {"J", SXI_ENERGY, 6.241509074460763e18},
};

static sx_status unit_factor(sx_hdf5 *file, const char *path, const char *unit,
                             sxi_quantity quantity, double pixel, double *factor) {
    static const char *const words[] = {"a length", "an angle", "an energy"};
    if (*unit == '\0' || strncmp(unit, "pixel", 5) == 0) {
        if (pixel > 0) {
            *factor = pixel;
            return SX_OK;
        }
        return SXI_FAIL(SX_ERR_UNIT, "%s:%s has no attribute units, or one of pixels",
                        sx_hdf5_path_of(file), path);
    }
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        if (strcmp(unit, UNITS[i].unit) == 0 && UNITS[i].quantity == quantity) {
            *factor = UNITS[i].factor;
            return SX_OK;
        }
    }
    return SXI_FAIL(SX_ERR_UNIT, "%s:%s is in '%s', expected was the unit of %s",
                    sx_hdf5_path_of(file), path, unit, words[quantity]);
}

/* One value, or several that are the same. */
static sx_status read_still(sx_hdf5 *file, const char *path, double tolerance, double *number) {
    static const sx_dtype as = SX_F64;
    sx_hdf5_dataset about;
    sx_array values = {0};
    int64_t most = 1;
    SXI_TRY(sx_hdf5_describe(file, path, &about));
    for (int d = 0; d < about.rank; d++) {
        if (about.shape[d] < 1 || about.shape[d] > (1 << 24) / most) {
            return SXI_FAIL(SX_ERR_SHAPE, "%s:%s holds no value, or too many",
                            sx_hdf5_path_of(file), path);
        }
        most *= about.shape[d];
    }
    SXI_TRY(sxi_h5_read(file, path, &as, &values));
    const double *v = values.data;
    double least = v[0], greatest = v[0], sum = 0;
    bool finite = true;
    for (int64_t i = 0; i < most; i++) {
        least = fmin(least, v[i]);
        greatest = fmax(greatest, v[i]);
        sum += v[i];
        finite = finite && isfinite(v[i]);
    }
    *number = sum / (double)most;
    sx_array_destroy(&values);
    if (!finite) {
        return SXI_FAIL(SX_ERR_RANGE, "%s:%s is not finite", sx_hdf5_path_of(file), path);
    }
    if (greatest - least > tolerance * fmax(fabs(least), fabs(greatest))) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s:%s runs from %g to %g: one map of pixels stands for frames at one "
                        "value only",
                        sx_hdf5_path_of(file), path, least, greatest);
    }
    return SX_OK;
}

static void unit_of(sx_hdf5 *file, const char *path, const char *attribute, char unit[32]) {
    if (sxi_h5_attribute_text(file, path, attribute, unit, 32) != SX_OK) {
        unit[0] = '\0';
        sx_error_clear();
    }
}

sx_status sxi_nexus_number(sx_hdf5 *file, const char *path, sxi_quantity quantity, double pixel,
                           double tolerance, double *number) {
    char unit[32];
    double factor;
    SXI_TRY(read_still(file, path, tolerance, number));
    unit_of(file, path, "units", unit);
    SXI_TRY(unit_factor(file, path, unit, quantity, pixel, &factor));
    *number *= factor;
    return SX_OK;
}

/* --- axes --- */

static sx_status read_vector(sx_hdf5 *file, const char *path, double *vector) {
    SXI_TRY(sxi_h5_attribute_reals(file, path, "vector", 3, vector));
    const double length = sqrt(sxi_vector_dot(vector, vector));
    if (!(length > 0) || !isfinite(length)) {
        return SXI_FAIL(SX_ERR_RANGE, "%s: the vector of %s has no direction",
                        sx_hdf5_path_of(file), path);
    }
    for (int d = 0; d < 3; d++) {
        vector[d] /= length;
    }
    return SX_OK;
}

/* Without an attribute there is none; its unit is offset_units, or, of a translation, units. */
static sx_status read_offset(sx_hdf5 *file, const char *path, bool turns, double *offset) {
    char unit[32];
    double factor = 1;
    if (sxi_h5_attribute_reals(file, path, "offset", 3, offset) != SX_OK) {
        if (sx_error_status() != SX_ERR_MISSING) {
            return sx_error_status();
        }
        sx_error_clear();
        memset(offset, 0, 3 * sizeof *offset);
        return SX_OK;
    }
    if (sxi_vector_dot(offset, offset) == 0) {
        return SX_OK;
    }
    unit_of(file, path, "offset_units", unit);
    if (!*unit && !turns) {
        unit_of(file, path, "units", unit);
    }
    SXI_TRY(unit_factor(file, path, *unit ? unit : "m", SXI_LENGTH, 0, &factor));
    for (int d = 0; d < 3; d++) {
        offset[d] *= factor;
        if (!isfinite(offset[d])) {
            return SXI_FAIL(SX_ERR_RANGE, "%s: the offset of %s is not finite",
                            sx_hdf5_path_of(file), path);
        }
    }
    return SX_OK;
}

/* What an axis depends on: nothing, a path, or a name in its own group. */
static sx_status read_next(sx_hdf5 *file, const char *path, char *next) {
    char group[SXI_NEXUS_PATH], name[SXI_NEXUS_PATH];
    if (sxi_h5_attribute_text(file, path, "depends_on", name, sizeof name) != SX_OK) {
        sx_error_clear();
        snprintf(name, sizeof name, ".");
    }
    if (strcmp(name, ".") == 0 || *name == '\0') {
        snprintf(next, SXI_NEXUS_PATH, ".");
        return SX_OK;
    }
    const char *slash = strrchr(path, '/');
    snprintf(group, sizeof group, "%.*s", slash ? (int)(slash - path) : 0, path);
    return sxi_nexus_join(group, strncmp(name, "./", 2) == 0 ? name + 2 : name, next);
}

sx_status sxi_nexus_axis(sx_hdf5 *file, const char *path, sxi_axis *axis) {
    char type[32];
    if (!sxi_h5_exists(file, path) || sxi_h5_is_group(file, path)) {
        return SXI_FAIL(SX_ERR_MISSING, "%s: an axis '%s' is named by depends_on and is not there",
                        sx_hdf5_path_of(file), path);
    }
    unit_of(file, path, "transformation_type", type);
    axis->turns = strcmp(type, "rotation") == 0;
    if (!axis->turns && *type && strcmp(type, "translation") != 0) {
        return SXI_FAIL(
            SX_ERR_FORMAT,
            "%s:%s is of transformation_type '%s', expected was translation or rotation",
            sx_hdf5_path_of(file), path, type);
    }
    SXI_TRY(read_vector(file, path, axis->vector));
    SXI_TRY(read_offset(file, path, axis->turns, axis->offset));
    /* Encoders flicker in the last digits. */
    SXI_TRY(
        sxi_nexus_number(file, path, axis->turns ? SXI_ANGLE : SXI_LENGTH, 0, 1e-5, &axis->value));
    return read_next(file, path, axis->next);
}

/* Rodrigues' formula. */
static void turn_of(const sxi_axis *axis, double turn[3][3]) {
    const double c = cos(axis->value), s = sin(axis->value), *v = axis->vector;
    const double cross[3][3] = {{0, -v[2], v[1]}, {v[2], 0, -v[0]}, {-v[1], v[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            turn[i][k] = (i == k ? c : 0) + s * cross[i][k] + (1 - c) * v[i] * v[k];
        }
    }
}

void sxi_nexus_move(const sxi_motion *motion, bool is_place, const double *from, double *to) {
    double moved[3];
    for (int i = 0; i < 3; i++) {
        moved[i] = (is_place ? motion->shift[i] : 0) + sxi_vector_dot(motion->turn[i], from);
    }
    memcpy(to, moved, sizeof moved);
}

/* motion = axis after motion. */
static void append(const sxi_axis *axis, sxi_motion *motion) {
    sxi_motion step = {.turn = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, all;
    if (axis->turns) {
        turn_of(axis, step.turn);
    }
    for (int d = 0; d < 3; d++) {
        step.shift[d] = axis->offset[d] + (axis->turns ? 0 : axis->value * axis->vector[d]);
    }
    for (int k = 0; k < 3; k++) {
        double column[3] = {motion->turn[0][k], motion->turn[1][k], motion->turn[2][k]};
        sxi_nexus_move(&step, false, column, column);
        for (int i = 0; i < 3; i++) {
            all.turn[i][k] = column[i];
        }
    }
    sxi_nexus_move(&step, true, motion->shift, all.shift);
    *motion = all;
}

sx_status sxi_nexus_chain(sx_hdf5 *file, const char *path, sxi_motion *motion) {
    *motion = (sxi_motion){.turn = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    char here[SXI_NEXUS_PATH];
    snprintf(here, sizeof here, "%s", path);
    for (int i = 0; strcmp(here, ".") != 0 && *here; i++) {
        sxi_axis axis;
        if (i == MOST_AXES) {
            return SXI_FAIL(SX_ERR_FORMAT,
                            "%s: depends_on from '%s' leads through more than %d "
                            "axes, or in a circle",
                            sx_hdf5_path_of(file), path, MOST_AXES);
        }
        SXI_TRY(sxi_nexus_axis(file, here, &axis));
        append(&axis, motion);
        memcpy(here, axis.next, sizeof here);
    }
    return SX_OK;
}
