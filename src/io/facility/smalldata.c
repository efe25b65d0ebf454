/* SPDX-License-Identifier: Apache-2.0
 * Per-shot files of LCLS smalldata. Names differ by hutch and year, so each quantity is looked for
 * under the names it has had, and can be named. */
#include "io/facility/facility.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/units.h"
#include "io/hdf5/h5file.h"

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
    const char *path = s->path;
    catalogue c = {.file = s->data};
    if (named) {
        snprintf(s->detector, sizeof s->detector, "%s", named);
        return SX_OK;
    }
    groups *g = calloc(1, sizeof *g);
    if (!g) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to look for its detectors", path);
    }
    sx_status status = SX_OK;
    SXI_GO(sxi_h5_members(s->data, "/", note_group, g));
    SXI_GO(sxi_h5_members(s->data, "/", look_at, &c));
    for (int i = 0; i < g->count; i++) {
        snprintf(c.group, sizeof c.group, "%s", g->name[i]);
        SXI_GO(sxi_h5_members(s->data, c.group, look_at, &c));
    }
    if (c.frames != 1) {
        status = c.frames ? SXI_FAIL(SX_ERR_ARGUMENT,
                                     "%s holds frames of several detectors, %s: choose one with "
                                     "--detector",
                                     path, c.names)
                          : SXI_FAIL(SX_ERR_MISSING,
                                     "%s holds no frames: a dataset of at least 3 axes, shots "
                                     "first, is needed",
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
static sx_status read_column(const sxi_shots *s, const char *given, double **column) {
    char name[SXI_SHOT_NAME];
    int64_t element;
    sx_array values = {0};
    sx_status status = SX_OK;
    SXI_TRY(sxi_shot_element(given, name, &element));
    SXI_TRY(sxi_shot_values(s->data, name, element, SX_F64, &values));
    const int64_t found = sx_array_count(&values);
    if (values.rank < 1 || found != s->count) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s:%s holds %lld values for the %lld shots of %s", s->path,
                          given, (long long)found, (long long)s->count, s->detector);
        goto out;
    }
    SXI_GO(sxi_shot_column(s, column));
    for (int64_t k = 0; k < s->count; k++) {
        (*column)[k] = sxi_shot_value(((const double *)values.data)[k]);
    }
out:
    sx_array_destroy(&values);
    return status;
}

static sx_status read_needed(sxi_shots *s, const char *what, const char *option, const char *named,
                             const char *const *names, char chosen[SXI_SHOT_NAME],
                             double **column) {
    choose(s->data, named, names, chosen);
    if (!chosen[0]) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s: no %s under its usual names (%s, ...): name the dataset with %s",
                        s->path, what, names[0], option);
    }
    return read_column(s, chosen, column);
}

static sx_status read_optional(sxi_shots *s, const char *named, const char *const *names,
                               char chosen[SXI_SHOT_NAME], double **column) {
    choose(s->data, named, names, chosen);
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
    char name[SXI_SHOT_NAME];
    int64_t element;
    SXI_TRY(sxi_shot_element(s->delay_name, name, &element));
    SXI_TRY(sxi_shot_delay_unit(f, s->data, name, scale));
    if (*scale != 0) {
        return SX_OK;
    }
    if (strstr(s->delay_name, "lxt")) {
        *scale = 1e12;
    } else if (strstr(s->delay_name, "lasDelay")) {
        *scale = spread(s->delay_ps, s->count) < 1e-7 ? 1e12 : 1;
    } else {
        return SXI_FAIL(SX_ERR_UNIT,
                        "%s:%s names no unit: say with --delay-scale how many ps one of it is",
                        s->path, s->delay_name);
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

static sx_status read_laser(sxi_shots *s, const sxi_shot_fields *f) {
    char name[SXI_SHOT_NAME];
    if (!f->laser_pattern) {
        return read_needed(s, "laser code", "--laser or --laser-pattern", f->laser, LASER_NAMES,
                           name, &s->laser);
    }
    SXI_TRY(sxi_shot_column(s, &s->laser));
    for (int64_t k = 0; k < s->count; k++) {
        s->laser[k] = sxi_shot_pattern(f->laser_pattern, 0, k);
    }
    return SX_OK;
}

/* What a file without shots of a facility is read as, too: it is told what is missing there. */
static bool holds(const char *path) { return !sxi_is_folder(path); }

static int64_t nanoseconds(uint64_t stamp) {
    return (int64_t)(stamp >> 32) * 1000000000 + (int64_t)(stamp & 0xffffffff);
}

/* LCLS keeps seconds and nanoseconds in the halves of 64 bits; other clocks count something evenly. */
static sx_status read_time(sxi_shots *s, const sxi_shot_fields *f) {
    const sx_dtype whole = SX_U64;
    char name[SXI_SHOT_NAME];
    sx_array stamps = {0};
    SXI_TRY(read_optional(s, f->time, TIME_NAMES, name, &s->time));
    if (f->time || !s->time) {
        return SX_OK;
    }
    SXI_TRY(sxi_h5_read(s->data, name, &whole, &stamps));
    const uint64_t *stamp = stamps.data;
    for (int64_t k = 0; k < s->count; k++) {
        if (stamp[0] >> 32 != 0) { /* ns since the first: exact, so that equally near is equal */
            s->time[k] = (double)(nanoseconds(stamp[k]) - nanoseconds(stamp[0]));
        }
    }
    sx_array_destroy(&stamps);
    return SX_OK;
}

/* What smalldata keeps about a detector and its beam. */
static sx_status read_settings(sxi_shots *s) {
    char name[SXI_SHOT_NAME + 40];
    snprintf(name, sizeof name, "UserDataCfg/%.*s/mask", (int)strcspn(s->detector, "/"),
             s->detector);
    if (sxi_h5_exists(s->data, name)) {
        SXI_TRY(sxi_shot_mask(s, s->data, name, 1));
    }
    return sxi_h5_exists(s->data, "ebeam/photon_energy")
               ? sxi_shots_mean(s, "ebeam/photon_energy", &s->photon_energy)
               : SX_OK;
}

static sx_status open_run(int count, const char *const *paths, const sxi_shot_fields *f,
                          const sx_context *context, sxi_shots *s) {
    (void)count;
    const char *path = paths[0];
    char name[SXI_SHOT_NAME];
    sx_hdf5_dataset about;
    sx_hdf5 *file = NULL;
    SXI_TRY(sx_hdf5_open(path, &file));
    s->data = file;
    sxi_h5_context_set(file, context);
    SXI_TRY(find_detector(s, f->detector));
    SXI_TRY(sx_hdf5_describe(file, s->detector, &about));
    SXI_TRY(sxi_shot_frame(s, &about, s->detector, 1, 1));
    s->count = about.shape[0];
    s->together = about.chunk[0] > 1 ? about.chunk[0] : 1;
    SXI_TRY(sxi_shot_some(s));
    SXI_TRY(read_needed(s, "intensity monitor", "--i0", f->i0, I0_NAMES, s->i0_name, &s->i0));
    SXI_TRY(read_laser(s, f));
    SXI_TRY(read_optional(s, f->xray, XRAY_NAMES, name, &s->xray));
    SXI_TRY(read_time(s, f));
    SXI_TRY(read_delay(s, f));
    SXI_TRY(read_tool(s, f));
    return read_settings(s);
}

static void part(const sxi_shots *s, int64_t shot, int number, sxi_shot_part *where) {
    (void)number;
    *where =
        (sxi_shot_part){.file = s->data, .dataset = s->detector, .leading = 1, .at = {shot, 0}};
}

static bool find(const sxi_shots *s, const char *name, int turn, sx_hdf5 **file,
                 char dataset[SXI_SHOT_NAME]) {
    *file = s->data;
    snprintf(dataset, SXI_SHOT_NAME, "%s", name);
    return turn == 0 && sxi_h5_exists(*file, dataset);
}

static void close_run(void *data) {
    sx_hdf5 *file = data;
    sx_hdf5_close(&file);
}

const sxi_facility sxi_facility_smalldata = {.name = "LCLS smalldata",
                                             .holds = holds,
                                             .open = open_run,
                                             .part = part,
                                             .find = find,
                                             .close = close_run};
