/* SPDX-License-Identifier: Apache-2.0
 * Per-shot files of LCLS smalldata. Names differ by hutch and year, so each quantity is looked for
 * under the names it has had, and can be named. */
#include "io/facility/shots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/units.h"
#include "io/hdf5/h5file.h"

/* Stands for "no value" in columns of any type. */
static const double MISSING = -99999;

/* First that is there is taken. */
static const char *const I0_NAMES[] = {"ipm2/sum",    "ipm3/sum",  "ipm_dg2/sum",
                                       "ipm_dg3/sum", "ipm1/sum",  "ipm4/sum",
                                       "ipm5/sum",    "wave8/sum", NULL};
static const char *const LASER_NAMES[] = {"lightStatus/laser", NULL};
static const char *const XRAY_NAMES[] = {"lightStatus/xray", NULL};
static const char *const TOOL_NAMES[] = {"tt/ttCorr",
                                         "ttCorr/tt",
                                         "tt/FLTPOS_PS",
                                         "tt/XPP_TIMETOOL_FLTPOS_PS",
                                         "tt/TIMETOOL_FLTPOS_PS",
                                         "tt/TTSPEC_FLTPOS_PS",
                                         NULL};
static const char *const AMPLITUDE_NAMES[] = {"tt/AMPL", "tt/XPP_TIMETOOL_AMPL", "tt/TIMETOOL_AMPL",
                                              "tt/TTSPEC_AMPL", NULL};
static const char *const WIDTH_NAMES[] = {"tt/FLTPOSFWHM", "tt/XPP_TIMETOOL_FLTPOSFWHM",
                                          "tt/TIMETOOL_FLTPOSFWHM", "tt/TTSPEC_FLTPOSFWHM", NULL};
static const char *const TIME_NAMES[] = {"timestamp", "event_time", NULL};
static const char *const DELAY_NAMES[] = {
    "scan/lxt", "enc/lasDelay", "enc/lasDelay2", "epics/lxt_ttc", "scan/lxt_ttc", "epics/lxt",
    NULL};

/* Datasets of the file: those that may hold frames, and the columns, for sentences. */
typedef struct catalogue {
    sx_hdf5 *file;
    char group[SXI_SHOT_NAME];
    int frames;
    char first[SXI_SHOT_NAME], names[600];
} catalogue;

static bool look_at(void *data, const char *member, bool is_group) {
    catalogue *c = data;
    char name[SXI_SHOT_NAME];
    sx_hdf5_dataset about;
    if (is_group || strlen(c->group) + strlen(member) + 2 > sizeof name) {
        return true;
    }
    const char *gap = *c->group ? "/" : "";
    snprintf(name, sizeof name, "%.100s%s%.150s", c->group, gap, member);
    if (sx_hdf5_describe(c->file, name, &about) != SX_OK || !about.numeric || about.rank < 3) {
        return true;
    }
    if (c->frames++ == 0) {
        memcpy(c->first, name, sizeof name);
    }
    const size_t used = strlen(c->names);
    snprintf(c->names + used, sizeof c->names - used, "%s%s", used ? ", " : "", name);
    return true;
}

/* Names of groups are gathered first: the callback may look, not descend. */
typedef struct groups {
    int count;
    char name[64][SXI_SHOT_NAME];
} groups;

static bool note_group(void *data, const char *member, bool is_group) {
    static const char *const others[] = {"UserDataCfg", "Sums", "provenance", "truth"};
    groups *g = data;
    bool wanted = is_group && g->count < 64 && strlen(member) < SXI_SHOT_NAME;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        wanted = wanted && strcmp(member, others[i]) != 0;
    }
    if (wanted) {
        snprintf(g->name[g->count++], SXI_SHOT_NAME, "%s", member);
    }
    return true;
}

static sx_status find_detector(sxi_shots *s, const char *named) {
    const char *path = sx_hdf5_path_of(s->file);
    catalogue c = {.file = s->file};
    if (named) {
        snprintf(s->detector, sizeof s->detector, "%s", named);
        return SX_OK;
    }
    groups *g = calloc(1, sizeof *g);
    if (!g) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to look for its detectors", path);
    }
    sx_status status = SX_OK;
    SXI_GO(sxi_h5_members(s->file, "/", note_group, g));
    SXI_GO(sxi_h5_members(s->file, "/", look_at, &c));
    for (int i = 0; i < g->count; i++) {
        snprintf(c.group, sizeof c.group, "%s", g->name[i]);
        SXI_GO(sxi_h5_members(s->file, c.group, look_at, &c));
    }
    if (c.frames != 1) {
        status = c.frames ? SXI_FAIL(SX_ERR_ARGUMENT,
                                     "%s holds frames of several detectors, %s: choose one with "
                                     "--detector",
                                     path, c.names)
                          : SXI_FAIL(SX_ERR_MISSING,
                                     "%s holds no frames: a dataset of at least 3 axes, shots "
                                     "first, is needed; of facilities' files only those of LCLS "
                                     "smalldata are read so far",
                                     path);
        goto out;
    }
    snprintf(s->detector, sizeof s->detector, "%s", c.first);
out:
    free(g);
    return status;
}

/* The first of names that is there, or `named`; "" without. */
static void choose(sx_hdf5 *file, const char *named, const char *const *names,
                   char chosen[SXI_SHOT_NAME]) {
    chosen[0] = '\0';
    if (named) {
        snprintf(chosen, SXI_SHOT_NAME, "%s", named);
        return;
    }
    for (; *names && !chosen[0]; names++) {
        if (sxi_h5_exists(file, *names)) {
            snprintf(chosen, SXI_SHOT_NAME, "%s", *names);
        }
    }
}

/* One number per shot; what is not known becomes NaN. */
static sx_status read_column(const sxi_shots *s, const char *name, double **column) {
    const sx_dtype real = SX_F64;
    sx_array values = {0};
    SXI_TRY(sxi_h5_read(s->file, name, &real, &values));
    if (sx_array_count(&values) != s->count || values.rank < 1) {
        const int64_t found = sx_array_count(&values);
        sx_array_destroy(&values);
        return SXI_FAIL(SX_ERR_SHAPE, "%s:%s holds %lld values for the %lld shots of %s",
                        sx_hdf5_path_of(s->file), name, (long long)found, (long long)s->count,
                        s->detector);
    }
    *column = malloc((size_t)(s->count ? s->count : 1) * sizeof **column);
    for (int64_t k = 0; *column && k < s->count; k++) {
        const double value = ((const double *)values.data)[k];
        (*column)[k] = isfinite(value) && value != MISSING ? value : (double)NAN;
    }
    sx_array_destroy(&values);
    return *column ? SX_OK
                   : SXI_FAIL(SX_ERR_MEMORY, "%s:%s: no memory to read it",
                              sx_hdf5_path_of(s->file), name);
}

static sx_status read_needed(sxi_shots *s, const char *what, const char *option, const char *named,
                             const char *const *names, char chosen[SXI_SHOT_NAME],
                             double **column) {
    choose(s->file, named, names, chosen);
    if (!chosen[0]) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: no %s under its usual names (%s, ...): name the dataset with %s",
                        sx_hdf5_path_of(s->file), what, names[0], option);
    }
    return read_column(s, chosen, column);
}

static sx_status read_optional(sxi_shots *s, const char *named, const char *const *names,
                               char chosen[SXI_SHOT_NAME], double **column) {
    choose(s->file, named, names, chosen);
    return chosen[0] ? read_column(s, chosen, column) : SX_OK;
}

/* --- the delay --- */

static double spread(const double *x, int64_t n) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int64_t k = 0; k < n; k++) {
        low = x[k] < low ? x[k] : low;
        high = x[k] > high ? x[k] : high;
    }
    return high - low;
}

/* ps per unit: as asked for, by the attribute, or by the name: lxt is kept in s, the encoders in ps, though
 * some files have them in s, which shows by a spread below a ns when read as such. */
static sx_status delay_unit(const sxi_shots *s, const sxi_shot_fields *f, double *scale) {
    sx_hdf5_dataset about;
    if (f->delay_scale != 0) {
        *scale = f->delay_scale;
        return SX_OK;
    }
    SXI_TRY(sx_hdf5_describe(s->file, s->delay_name, &about));
    if (about.unit[0]) {
        return sxi_unit_time(about.unit, scale);
    }
    if (strstr(s->delay_name, "lxt")) {
        *scale = 1e12;
    } else if (strstr(s->delay_name, "lasDelay")) {
        *scale = spread(s->delay_ps, s->count) < 1e-7 ? 1e12 : 1;
    } else {
        return SXI_FAIL(SX_ERR_UNIT,
                        "%s:%s names no unit: say with --delay-scale how many ps one of it is",
                        sx_hdf5_path_of(s->file), s->delay_name);
    }
    return SX_OK;
}

static sx_status read_delay(sxi_shots *s, const sxi_shot_fields *f) {
    double scale = 1;
    SXI_TRY(read_needed(s, "delay", "--delay", f->delay, DELAY_NAMES, s->delay_name, &s->delay_ps));
    SXI_TRY(delay_unit(s, f, &scale));
    for (int64_t k = 0; k < s->count; k++) {
        s->delay_ps[k] *= scale;
    }
    return SX_OK;
}

static sx_status read_tool(sxi_shots *s, const sxi_shot_fields *f) {
    char name[SXI_SHOT_NAME];
    if (f->no_time_tool) {
        return SX_OK;
    }
    SXI_TRY(read_optional(s, f->time_tool, TOOL_NAMES, s->tool_name, &s->tool_ps));
    SXI_TRY(read_optional(s, f->time_tool_amplitude, AMPLITUDE_NAMES, name, &s->tool_amplitude));
    return read_optional(s, f->time_tool_width, WIDTH_NAMES, name, &s->tool_width);
}

static sx_status open_all(const char *path, const sxi_shot_fields *f, const sx_context *context,
                          sxi_shots *s) {
    char name[SXI_SHOT_NAME];
    SXI_TRY(sx_hdf5_open(path, &s->file));
    sxi_h5_context_set(s->file, context);
    SXI_TRY(find_detector(s, f->detector));
    SXI_TRY(sx_hdf5_describe(s->file, s->detector, &s->frames));
    if (!s->frames.numeric || s->frames.rank < 2 || s->frames.rank > 5) {
        return SXI_FAIL(SX_ERR_SHAPE,
                        "%s:%s is no series of frames: numbers with the axes shot and pixel, or "
                        "shot, row and column, are needed",
                        path, s->detector);
    }
    s->count = s->frames.shape[0];
    SXI_TRY(read_needed(s, "intensity monitor", "--i0", f->i0, I0_NAMES, s->i0_name, &s->i0));
    SXI_TRY(read_needed(s, "laser code", "--laser", f->laser, LASER_NAMES, name, &s->laser));
    SXI_TRY(read_optional(s, f->xray, XRAY_NAMES, name, &s->xray));
    SXI_TRY(read_optional(s, f->time, TIME_NAMES, name, &s->time));
    SXI_TRY(read_delay(s, f));
    return read_tool(s, f);
}

sx_status sxi_smalldata_open(const char *path, const sxi_shot_fields *fields,
                             const sx_context *context, sxi_shots *s) {
    *s = (sxi_shots){0};
    const sx_status status = open_all(path, fields, context, s);
    if (status != SX_OK) {
        sxi_shots_close(s);
    }
    return status;
}
