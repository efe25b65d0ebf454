/* SPDX-License-Identifier: Apache-2.0
 * The keys of a .geom. Those that cannot move a pixel are passed over; those that could and are not
 * understood, misspelt ones among them, are errors: a wrong position is worse than none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "io/geometry/crystfel.h"

static const char *const REALS[SXI_REALS] = {"min_fs",   "max_fs",   "min_ss", "max_ss",
                                             "corner_x", "corner_y", "res"};

static const char *const GLOBALS[SXI_GLOBALS] = {"photon_energy", "wavelength", "electron_voltage",
                                                 "detector_shift_x", "detector_shift_y"};

/* All that this file understands and that moves pixels, for finding misspelt ones. */
static const char *const MOVING[] = {
    "min_fs",
    "max_fs",
    "min_ss",
    "max_ss",
    "corner_x",
    "corner_y",
    "res",
    "coffset",
    "clen",
    "fs",
    "photon_energy",
    "wavelength",
    "electron_voltage",
    "detector_shift_x",
    "ss",
    "detector_shift_y",
};

/* These look like a misspelt key of that list, or not, and are harmless. */
static const char *const HARMLESS[] = {
    "adu_per_eV",      "adu_per_photon",   "max_adu",        "saturation_map",
    "flag_lessthan",   "flag_morethan",    "flag_equal",     "saturation_map_file",
    "peak_list",       "peak_list_type",   "bandwidth",      "peak_info_location",
    "integr_radius",   "badrow_direction", "profile_radius", "divergence",
    "beam_divergence", "beam_bandwidth",
};

/* Known to move pixels, or the energy, and not supported. */
static const char *const FOREIGN[] = {
    "rail_x", "rail_y", "rail_z", "rail_direction", "clen_for_centering", "photon_energy_scale"};

static bool among(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            return true;
        }
    }
    return false;
}
#define AMONG(word, words) among(word, words, sizeof(words) / sizeof *(words))

static bool starts(const char *text, const char *word) {
    return strncmp(text, word, strlen(word)) == 0;
}

/* --- values --- */

static sx_status put_text(const sxi_geom *geom, const char *key, const char *value, char *to,
                          size_t size) {
    if (strlen(value) >= size) {
        return SXI_FAIL(SX_ERR_RANGE, "%s line %ld: %s has %zu letters, at most %zu are read",
                        geom->line.path, geom->line.number, key, strlen(value), size - 1);
    }
    memcpy(to, value, strlen(value) + 1);
    return SX_OK;
}

/* "95.3 mm", "/LCLS/photon_energy eV", "4570". */
static sx_status put_value(const sxi_geom *geom, const char *key, char *text, sxi_geom_value *to) {
    char *at = text, *first = sxi_field_next(&at), *unit = sxi_field_next(&at);
    sxi_geom_value value = {.given = true};
    if (!first || sxi_field_next(&at)) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "%s line %ld: %s should be a number or a path, and a unit after it",
                        geom->line.path, geom->line.number, key);
    }
    if (unit) {
        SXI_TRY(put_text(geom, key, unit, value.unit, sizeof value.unit));
    }
    if (*first == '/') {
        SXI_TRY(put_text(geom, key, first, value.path, sizeof value.path));
        if (strchr(first, '%')) {
            return SXI_FAIL(SX_ERR_UNSUPPORTED, "%s line %ld: a path of %s with %% is not read",
                            geom->line.path, geom->line.number, key);
        }
    } else {
        SXI_TRY(sxi_line_real(&geom->line, key, first, &value.number));
    }
    *to = value;
    return SX_OK;
}

static sx_status bad_direction(const sxi_geom *geom, const char *key, const char *text) {
    return SXI_FAIL(
        SX_ERR_FORMAT,
        "%s line %ld: %s is '%.60s', expected was a direction such as -0.9998x +0.0012y",
        geom->line.path, geom->line.number, key, text);
}

/* "-0.003x +0.999y", "x", "- y": terms of a sign, a number and a letter. */
static sx_status put_direction(const sxi_geom *geom, const char *key, const char *text,
                               double *to) {
    double sum[3] = {0};
    bool any = false;
    for (const char *at = text; *(at += strspn(at, " \t"));) {
        const double sign = *at == '-' ? -1 : 1;
        if (*at == '-' || *at == '+') {
            at += 1 + strspn(at + 1, " \t");
        } else if (any) {
            return bad_direction(geom, key, text);
        }
        const size_t length = strcspn(at, "xyz");
        char number[64];
        double factor = 1;
        if (at[length] == '\0' || length >= sizeof number) {
            return bad_direction(geom, key, text);
        }
        memcpy(number, at, length);
        number[length] = '\0';
        char *plain = sxi_trim(number);
        if (*plain && sx_parse_real(plain, &factor) != SX_OK) {
            return bad_direction(geom, key, text);
        }
        sum[at[length] - 'x'] += sign * factor;
        any = true;
        at += length + 1;
    }
    if (!any) {
        return bad_direction(geom, key, text);
    }
    memcpy(to, sum, sizeof sum);
    return SX_OK;
}

static sx_status put_dim(const sxi_geom *geom, const char *key, const char *value, int *dim) {
    const int d = key[3] - '0';
    double number;
    if (d < 0 || d >= SXI_GEOM_DIMS || key[4]) {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: '%.40s' should be dim0 to dim%d",
                        geom->line.path, geom->line.number, key, SXI_GEOM_DIMS - 1);
    }
    if (strcmp(value, "%") == 0) {
        dim[d] = SXI_DIM_FRAME;
    } else if (strcmp(value, "ss") == 0) {
        dim[d] = SXI_DIM_SLOW;
    } else if (strcmp(value, "fs") == 0) {
        dim[d] = SXI_DIM_FAST;
    } else {
        SXI_TRY(sxi_line_real(&geom->line, key, value, &number));
        if (!(number >= 0 && number < SXI_GEOM_MOST) || number != floor(number)) {
            return SXI_FAIL(SX_ERR_RANGE, "%s line %ld: %s is %g, expected was ss, fs, %% or 0..%d",
                            geom->line.path, geom->line.number, key, number, SXI_GEOM_MOST - 1);
        }
        dim[d] = (int)number;
    }
    return SX_OK;
}

static sx_status put_bits(const sxi_geom *geom, const char *key, const char *value, uint64_t *to) {
    char *end = NULL;
    const unsigned long long bits = strtoull(value, &end, 0);
    if (end == value || *end || *value == '-') {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: %s is '%.40s', expected was a number or 0x...",
                        geom->line.path, geom->line.number, key, value);
    }
    *to = bits;
    return SX_OK;
}

/* mask, mask_file, mask_good, mask_bad, or mask3_data, mask3_file, mask3_goodbits, mask3_badbits.
 * False: none of them. */
static bool is_mask(const char *key, int *which, const char **part) {
    if (!starts(key, "mask")) {
        return false;
    }
    const bool numbered = key[4] >= '0' && key[4] < '0' + SXI_GEOM_MASKS;
    *which = numbered ? key[4] - '0' : 0;
    *part = key + (numbered ? 5 : 4);
    static const char *const parts[] = {"",     "_data",     "_file",   "_good",
                                        "_bad", "_goodbits", "_badbits"};
    return AMONG(*part, parts);
}

static sx_status put_mask(const sxi_geom *geom, const char *key, const char *part,
                          const char *value, sxi_geom_mask *mask) {
    if (starts(part, "_good")) {
        return put_bits(geom, key, value, &mask->good);
    }
    if (starts(part, "_bad")) {
        return put_bits(geom, key, value, &mask->bad);
    }
    if (strcmp(part, "_file") == 0) {
        return put_text(geom, key, value, mask->file, sizeof mask->file);
    }
    return put_text(geom, key, value, mask->data, sizeof mask->data);
}

/* --- keys --- */

static sx_status unknown(const sxi_geom *geom, const char *key) {
    const char *meant = sx_nearest(key, MOVING, sizeof MOVING / sizeof *MOVING);
    if (AMONG(key, HARMLESS)) {
        return SX_OK;
    }
    if (AMONG(key, FOREIGN)) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s line %ld: '%s' would move pixels and is not supported; write the "
                        "positions that follow from it",
                        geom->line.path, geom->line.number, key);
    }
    if (meant) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s line %ld: '%.60s' is not known and may be meant for '%s', which moves "
                        "pixels",
                        geom->line.path, geom->line.number, key, meant);
    }
    return SX_OK;
}

static sx_status panel_key(const sxi_geom *geom, sxi_geom_panel *panel, const char *key,
                           char *value) {
    int which;
    const char *part;
    for (int i = 0; i < SXI_REALS; i++) {
        if (strcmp(key, REALS[i]) == 0) {
            return sxi_line_real(&geom->line, key, value, &panel->real[i]);
        }
    }
    if (strcmp(key, "fs") == 0 || strcmp(key, "ss") == 0) {
        return put_direction(geom, key, value, *key == 'f' ? panel->fs : panel->ss);
    }
    if (strcmp(key, "clen") == 0) {
        return put_value(geom, key, value, &panel->clen);
    }
    if (strcmp(key, "coffset") == 0) {
        return sxi_line_real(&geom->line, key, value, &panel->coffset);
    }
    if (strcmp(key, "data") == 0) {
        return put_text(geom, key, value, panel->data, sizeof panel->data);
    }
    if (starts(key, "dim")) {
        return put_dim(geom, key, value, panel->dim);
    }
    if (strcmp(key, "mask_edge_pixels") == 0) {
        return sxi_line_real(&geom->line, key, value, &panel->mask_edge);
    }
    if (strcmp(key, "no_index") == 0) {
        panel->no_index = strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
        return SX_OK;
    }
    if (is_mask(key, &which, &part)) {
        return put_mask(geom, key, part, value, &panel->mask[which]);
    }
    return unknown(geom, key);
}

static sx_status global_key(sxi_geom *geom, const char *key, char *value) {
    if (starts(key, "rigid_group") || starts(key, "group")) {
        return SX_OK; /* which panels move together when a geometry is refined */
    }
    for (int i = 0; i < SXI_GLOBALS; i++) {
        if (strcmp(key, GLOBALS[i]) == 0) {
            for (int k = 0; k <= SXI_BEAM_VOLTAGE && i <= SXI_BEAM_VOLTAGE; k++) {
                if (geom->global[k].given) {
                    return SXI_FAIL(SX_ERR_FORMAT,
                                    "%s line %ld: %s comes after %s, only one may be given",
                                    geom->line.path, geom->line.number, key, GLOBALS[k]);
                }
            }
            return put_value(geom, key, value, &geom->global[i]);
        }
    }
    return panel_key(geom, &geom->defaults, key, value);
}

static sx_status bad_key(const sxi_geom *geom, sxi_geom_bad *bad, const char *key,
                         const char *value) {
    static const char *const axes[SXI_BAD_AXES] = {"fs", "ss", "x", "y"};
    for (int a = 0; a < SXI_BAD_AXES; a++) {
        if ((starts(key, "min_") || starts(key, "max_")) && strcmp(key + 4, axes[a]) == 0) {
            return sxi_line_real(&geom->line, key, value,
                                 key[1] == 'i' ? &bad->least[a] : &bad->most[a]);
        }
    }
    if (strcmp(key, "panel") == 0) {
        return put_text(geom, key, value, bad->panel, sizeof bad->panel);
    }
    return SXI_FAIL(SX_ERR_FORMAT,
                    "%s line %ld: '%.40s' is none of min_fs, max_fs, min_ss, max_ss, min_x, max_x, "
                    "min_y, max_y, panel",
                    geom->line.path, geom->line.number, key);
}

/* --- panels and regions by name --- */

/* Room for one more of count elements; doubled at each power of two. */
static void *grow(void *all, int count, size_t size) {
    if ((count & (count - 1)) != 0) {
        return all;
    }
    return realloc(all, (count ? 2 * (size_t)count : 1) * size);
}

static sx_status no_room(const sxi_geom *geom) {
    return SXI_FAIL(SX_ERR_RANGE, "%s line %ld: more than %d panels or regions, or no memory",
                    geom->line.path, geom->line.number, SXI_GEOM_MOST);
}

/* The panel of that name, made from the defaults where it is new. */
static sx_status find_panel(sxi_geom *geom, const char *name, sxi_geom_panel **found) {
    /* Lines of one panel stand together. */
    for (int i = geom->panels - 1; i >= 0; i--) {
        if (strcmp(geom->panel[i].name, name) == 0) {
            *found = &geom->panel[i];
            return SX_OK;
        }
    }
    sxi_geom_panel *grown =
        geom->panels < SXI_GEOM_MOST ? grow(geom->panel, geom->panels, sizeof *grown) : NULL;
    if (!grown) {
        return no_room(geom);
    }
    geom->panel = grown;
    *found = &grown[geom->panels++];
    **found = geom->defaults;
    return put_text(geom, "the name of a panel", name, (*found)->name, sizeof(*found)->name);
}

static sx_status find_bad(sxi_geom *geom, const char *name, sxi_geom_bad **found) {
    for (int i = geom->bads - 1; i >= 0; i--) {
        if (strcmp(geom->bad[i].name, name) == 0) {
            *found = &geom->bad[i];
            return SX_OK;
        }
    }
    sxi_geom_bad *grown =
        geom->bads < SXI_GEOM_MOST ? grow(geom->bad, geom->bads, sizeof *grown) : NULL;
    if (!grown) {
        return no_room(geom);
    }
    geom->bad = grown;
    *found = &grown[geom->bads++];
    **found = (sxi_geom_bad){.name = ""};
    for (int a = 0; a < SXI_BAD_AXES; a++) {
        (*found)->least[a] = (*found)->most[a] = (double)NAN;
    }
    return put_text(geom, "the name of a region", name, (*found)->name, sizeof(*found)->name);
}

sx_status sxi_geom_key(sxi_geom *geom, char *key, char *value) {
    char *slash = strchr(key, '/');
    if (*value == '\0' || *key == '\0') {
        return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: nothing stands %s the =", geom->line.path,
                        geom->line.number, *key ? "after" : "before");
    }
    if (!slash) {
        return global_key(geom, key, value);
    }
    *slash = '\0';
    if (starts(key, "bad")) {
        sxi_geom_bad *bad;
        SXI_TRY(find_bad(geom, key, &bad));
        return bad_key(geom, bad, slash + 1, value);
    }
    sxi_geom_panel *panel;
    SXI_TRY(find_panel(geom, key, &panel));
    return panel_key(geom, panel, slash + 1, value);
}
