/* SPDX-License-Identifier: Apache-2.0
 * crystal.yaml. LibCYAML checks which fields there are; numbers come as text and through our own
 * parser, since it takes "5.4x" for 5.4. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "numer/dense.h"
#include "xani/crystal/crystal.h"
#include "xani/crystal/yaml.h"
#include "xani/phonons/phonons.h"

/* The file as text; what is not there is NULL. */
typedef struct raw_cell {
    char *value[6];
} raw_cell;

typedef struct raw_atom {
    char *element;
    char *position[3];
} raw_atom;

typedef struct raw_reflection {
    char *hkl[3];
    char *q[3];
    char **angles;
    unsigned angles_count;
} raw_reflection;

typedef struct raw_orientation {
    char *ub[9];
    raw_reflection *reflections;
    unsigned reflections_count;
} raw_orientation;

typedef struct raw_axis {
    char *name;
    char *direction[3];
    char *sense;
    char *dataset;
    char *angle;
} raw_axis;

typedef struct raw_crystal {
    raw_cell *cell;
    char *space_group;
    char *centring;
    raw_atom *atoms;
    unsigned atoms_count;
    raw_orientation *orientation;
    raw_axis *goniometer;
    unsigned goniometer_count;
} raw_crystal;

#define TEXT(key, flags, structure, member)                                                        \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | (flags), structure, member, 0, CYAML_UNLIMITED)
#define NUMBERS(key, flags, structure, member, count)                                              \
    CYAML_FIELD_SEQUENCE_FIXED(key, flags, structure, member, &text, count)
#define LIST(key, structure, member, entry)                                                        \
    CYAML_FIELD_SEQUENCE(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, structure, member, entry,  \
                         0, CYAML_UNLIMITED)

static const cyaml_schema_value_t text = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, CYAML_UNLIMITED)};

static const cyaml_schema_field_t cell_fields[] = {TEXT("a", 0, raw_cell, value[0]),
                                                   TEXT("b", 0, raw_cell, value[1]),
                                                   TEXT("c", 0, raw_cell, value[2]),
                                                   TEXT("alpha", 0, raw_cell, value[3]),
                                                   TEXT("beta", 0, raw_cell, value[4]),
                                                   TEXT("gamma", 0, raw_cell, value[5]),
                                                   CYAML_FIELD_END};

static const cyaml_schema_field_t atom_fields[] = {
    TEXT("element", 0, raw_atom, element),
    NUMBERS("position", CYAML_FLAG_DEFAULT, raw_atom, position, 3), CYAML_FIELD_END};
static const cyaml_schema_value_t atom_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_atom, atom_fields)};

static const cyaml_schema_field_t reflection_fields[] = {
    NUMBERS("hkl", CYAML_FLAG_DEFAULT, raw_reflection, hkl, 3),
    NUMBERS("q", CYAML_FLAG_DEFAULT, raw_reflection, q, 3),
    LIST("angles", raw_reflection, angles, &text), CYAML_FIELD_END};
static const cyaml_schema_value_t reflection_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_reflection, reflection_fields)};

static const cyaml_schema_field_t orientation_fields[] = {
    NUMBERS("ub", CYAML_FLAG_OPTIONAL, raw_orientation, ub, 9),
    LIST("reflections", raw_orientation, reflections, &reflection_entry), CYAML_FIELD_END};

static const cyaml_schema_field_t axis_fields[] = {
    TEXT("name", 0, raw_axis, name),
    NUMBERS("direction", CYAML_FLAG_DEFAULT, raw_axis, direction, 3),
    TEXT("sense", CYAML_FLAG_OPTIONAL, raw_axis, sense),
    TEXT("dataset", CYAML_FLAG_OPTIONAL, raw_axis, dataset),
    TEXT("angle", CYAML_FLAG_OPTIONAL, raw_axis, angle),
    CYAML_FIELD_END};
static const cyaml_schema_value_t axis_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, raw_axis, axis_fields)};

static const cyaml_schema_field_t crystal_fields[] = {
    CYAML_FIELD_MAPPING_PTR("cell", CYAML_FLAG_POINTER, raw_crystal, cell, cell_fields),
    TEXT("space_group", CYAML_FLAG_OPTIONAL, raw_crystal, space_group),
    TEXT("centring", CYAML_FLAG_OPTIONAL, raw_crystal, centring),
    LIST("atoms", raw_crystal, atoms, &atom_entry),
    CYAML_FIELD_MAPPING_PTR("orientation", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, raw_crystal,
                            orientation, orientation_fields),
    LIST("goniometer", raw_crystal, goniometer, &axis_entry),
    CYAML_FIELD_END};
static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, raw_crystal, crystal_fields)};

/* A number of a field, such as "atoms[2].position". */
static sx_status number(const char *field, const char *what, const char *found, double *value) {
    if (sx_parse_real(found, value) != SX_OK) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s: '%.40s' found, expected a number%s", field, found,
                        what);
    }
    return SX_OK;
}

static sx_status numbers(const char *field, const char *what, int count, char *const *found,
                         double *value) {
    for (int k = 0; k < count; k++) {
        SXI_TRY(number(field, what, found[k], value + k));
    }
    return SX_OK;
}

static sx_status read_cell(const raw_cell *raw, double cell[6]) {
    for (int k = 0; k < 6; k++) {
        char field[24];
        snprintf(field, sizeof field, "cell.%s", cell_fields[k].key);
        SXI_TRY(number(field, k < 3 ? " in Angstrom" : " in degrees", raw->value[k], cell + k));
    }
    return SX_OK;
}

static sx_status read_atoms(const raw_crystal *raw, sx_crystal_atom *atom) {
    for (unsigned k = 0; k < raw->atoms_count; k++) {
        char field[40];
        const char *element = raw->atoms[k].element;
        snprintf(field, sizeof field, "atoms[%u].position", k + 1);
        SXI_TRY(
            numbers(field, " in units of the cell", 3, raw->atoms[k].position, atom[k].position));
        if (sxi_element_mass(element) == 0) {
            return SXI_FAIL(SX_ERR_FORMAT,
                            "atoms[%u].element: '%.40s' found, expected the symbol "
                            "of an element, such as Si",
                            k + 1, element);
        }
        snprintf(atom[k].element, sizeof atom[k].element, "%s", element);
    }
    return SX_OK;
}

static sx_status create(const raw_crystal *raw, sx_crystal **crystal) {
    sx_status status = SX_OK;
    double cell[6];
    sx_crystal_atom *atom = NULL;
    SXI_TRY(read_cell(raw->cell, cell));
    if (!raw->space_group == !raw->centring) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s found, expected one of space_group (such as Fd-3m) and "
                        "centring (P, A, B, C, I, F or R)",
                        raw->centring ? "both space_group and centring" : "neither");
    }
    if (raw->centring && (strlen(raw->centring) != 1 || !strchr("PABCIFR", raw->centring[0]))) {
        return SXI_FAIL(SX_ERR_FORMAT, "centring: '%.40s' found, expected P, A, B, C, I, F or R",
                        raw->centring);
    }
    atom = calloc((size_t)raw->atoms_count + 1, sizeof *atom);
    if (!atom) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %u atoms", raw->atoms_count);
    }
    SXI_GO(read_atoms(raw, atom));
    SXI_GO(sx_crystal_create(cell, raw->centring ? raw->centring : raw->space_group,
                             (int)raw->atoms_count, atom, crystal));
out:
    free(atom);
    return status;
}

static sx_status read_direction(const char *field, char *const *found, double direction[3]) {
    SXI_TRY(numbers(field, " (x, y, z in the laboratory)", 3, found, direction));
    const double length = sxi_norm(3, direction);
    if (length == 0) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s: 0 0 0 found, expected a direction", field);
    }
    for (int k = 0; k < 3; k++) {
        direction[k] /= length;
    }
    return SX_OK;
}

static sx_status read_axis(const raw_axis *raw, sx_crystal_axis *axis) {
    char field[64];
    snprintf(axis->name, sizeof axis->name, "%s", raw->name);
    snprintf(field, sizeof field, "goniometer '%.30s'.direction", raw->name);
    SXI_TRY(read_direction(field, raw->direction, axis->direction));
    axis->sense = raw->sense && strcmp(raw->sense, "-1") == 0 ? -1 : 1;
    if (raw->sense && axis->sense == 1 && strcmp(raw->sense, "1") != 0) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "goniometer '%.30s'.sense: '%.40s' found, expected 1 "
                        "(right-handed about the direction, the default) or -1",
                        raw->name, raw->sense);
    }
    if (!raw->dataset == !raw->angle) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "goniometer '%.30s': %s found, expected one of dataset "
                        "(where the run has its angle) and angle (degrees, fixed)",
                        raw->name, raw->angle ? "both dataset and angle" : "neither");
    }
    axis->dataset = raw->dataset;
    snprintf(field, sizeof field, "goniometer '%.30s'.angle", raw->name);
    return raw->angle ? number(field, " in degrees", raw->angle, &axis->angle) : SX_OK;
}

static sx_status read_goniometer(const raw_crystal *raw, sx_crystal *crystal) {
    sx_status status = SX_OK;
    const unsigned count = raw->goniometer_count;
    sx_crystal_axis *axis = calloc((size_t)count + 1, sizeof *axis);
    if (!axis) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %u axes", count);
    }
    for (unsigned k = 0; k < count; k++) {
        SXI_GO(read_axis(raw->goniometer + k, axis + k));
    }
    SXI_GO(sxi_crystal_add_axes(crystal, (int)count, axis));
out:
    free(axis);
    return status;
}

/* One angle for each axis, fixed ones too: the list then reads like the goniometer. */
static sx_status read_reflection(const raw_reflection *raw, int which, int axes, double *angle,
                                 sx_crystal_peak *peak) {
    char field[48];
    snprintf(field, sizeof field, "orientation.reflections[%d].hkl", which);
    SXI_TRY(numbers(field, "", 3, raw->hkl, peak->hkl));
    snprintf(field, sizeof field, "orientation.reflections[%d].q", which);
    SXI_TRY(read_direction(field, raw->q, peak->q));
    if ((int)raw->angles_count != axes) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "orientation.reflections[%d].angles: %u found, expected %d, "
                        "one in degrees for each axis of the goniometer",
                        which, raw->angles_count, axes);
    }
    snprintf(field, sizeof field, "orientation.reflections[%d].angles", which);
    SXI_TRY(numbers(field, " in degrees", axes, raw->angles, angle));
    peak->angle = angle;
    return SX_OK;
}

static sx_status read_reflections(const raw_orientation *raw, sx_crystal *crystal) {
    sx_status status = SX_OK;
    sx_crystal_peak peak[2];
    if (raw->reflections_count != 2) {
        return SXI_FAIL(SX_ERR_FORMAT, "orientation.reflections: %u found, expected two",
                        raw->reflections_count);
    }
    double *angle = calloc(2 * (size_t)crystal->axes + 1, sizeof *angle);
    if (!angle) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the angles of reflections");
    }
    for (int k = 0; k < 2; k++) {
        SXI_GO(read_reflection(raw->reflections + k, k + 1, crystal->axes,
                               angle + k * crystal->axes, peak + k));
    }
    SXI_GO(sx_crystal_set_reflections(crystal, peak));
out:
    free(angle);
    return status;
}

static sx_status read_orientation(const raw_orientation *raw, sx_crystal *crystal) {
    double ub[9];
    const bool has_ub = raw->ub[0] != NULL, has_reflections = raw->reflections != NULL;
    if (has_ub == has_reflections) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "orientation: %s found, expected one of ub (nine numbers) "
                        "and reflections (two)",
                        has_ub ? "both ub and reflections" : "neither");
    }
    if (has_reflections) {
        return read_reflections(raw, crystal);
    }
    SXI_TRY(numbers("orientation.ub", " in 1/Angstrom", 9, raw->ub, ub));
    return sx_crystal_set_ub(crystal, ub);
}

static sx_status convert(const raw_crystal *raw, sx_crystal **crystal) {
    SXI_TRY(create(raw, crystal));
    SXI_TRY(read_goniometer(raw, *crystal));
    return raw->orientation ? read_orientation(raw->orientation, *crystal) : SX_OK;
}

sx_status sx_crystal_read(const char *path, sx_crystal **crystal) {
    sx_status status = SX_OK;
    void *raw = NULL;
    sx_crystal *made = NULL;
    SXI_TRY(sxi_yaml_read(path, "a crystal (YAML)", &schema, &raw));
    if (!raw) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s is empty; expected the fields of a crystal, at least "
                        "cell, and space_group or centring",
                        path);
    }
    status = convert(raw, &made);
    if (status != SX_OK) {
        status = sxi_fail_context(status, "%s", path);
        goto out;
    }
    *crystal = made;
    made = NULL;
out:
    sxi_yaml_free(&schema, raw);
    sx_crystal_destroy(&made);
    return status;
}
