/* SPDX-License-Identifier: Apache-2.0
 * Detectors that a PONI file names. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "io/geometry/poni.h"

/* --- Detector_config: one flat object of JSON --- */

typedef struct json {
    const sxi_line *line;
    const char *at;
} json;

static void skip_blanks(json *j) { j->at += strspn(j->at, " \t"); }

static sx_status wrong(const json *j, const char *expected) {
    return SXI_FAIL(SX_ERR_FORMAT, "%s line %ld: Detector_config has '%.20s' where %s was expected",
                    j->line->path, j->line->number, j->at, expected);
}

static sx_status expect(json *j, char wanted) {
    skip_blanks(j);
    if (*j->at != wanted) {
        const char words[] = {'\'', wanted, '\'', '\0'};
        return wrong(j, words);
    }
    j->at++;
    return SX_OK;
}

static sx_status text_of(json *j, char *text, size_t size) {
    SXI_TRY(expect(j, '"'));
    const size_t length = strcspn(j->at, "\"\\");
    if (j->at[length] != '"' || length >= size) {
        return wrong(j, "a plain text");
    }
    memcpy(text, j->at, length);
    text[length] = '\0';
    j->at += length + 1;
    return SX_OK;
}

static sx_status number_of(json *j, const char *key, double *value) {
    char text[64];
    skip_blanks(j);
    const size_t length = strspn(j->at, "+-.0123456789eE");
    if (length == 0 || length >= sizeof text) {
        return wrong(j, "a number");
    }
    memcpy(text, j->at, length);
    text[length] = '\0';
    j->at += length;
    return sxi_line_real(j->line, key, text, value);
}

/* Past any value: to the comma or brace after it. */
static sx_status skip(json *j) {
    int depth = 0;
    bool text = false;
    for (; *j->at; j->at++) {
        const char c = *j->at;
        if (c == '"') {
            text = !text;
        } else if (!text && (c == '[' || c == '{')) {
            depth++;
        } else if (!text && depth == 0 && (c == ',' || c == '}')) {
            return SX_OK;
        } else if (!text && (c == ']' || c == '}')) {
            depth--;
        }
    }
    return wrong(j, "the end of the object");
}

static bool take_word(json *j, const char *word) {
    skip_blanks(j);
    const bool there = strncmp(j->at, word, strlen(word)) == 0;
    j->at += there ? strlen(word) : 0;
    return there;
}

static sx_status pair_of(json *j, const char *key, int64_t *pair) {
    double value[2];
    SXI_TRY(expect(j, '['));
    SXI_TRY(number_of(j, key, &value[0]));
    SXI_TRY(expect(j, ','));
    SXI_TRY(number_of(j, key, &value[1]));
    SXI_TRY(expect(j, ']'));
    for (int d = 0; d < 2; d++) {
        if (!(value[d] >= 1 && value[d] <= 1e9) || value[d] != floor(value[d])) {
            return SXI_FAIL(SX_ERR_RANGE, "%s line %ld: %s is [%g, %g]", j->line->path,
                            j->line->number, key, value[0], value[1]);
        }
        pair[d] = (int64_t)value[d];
    }
    return SX_OK;
}

static sx_status orientation_of(json *j, int64_t *orientation) {
    double value;
    SXI_TRY(number_of(j, "orientation", &value));
    if (!(value >= 0 && value <= 4) || value != floor(value)) {
        return SXI_FAIL(SX_ERR_RANGE, "%s line %ld: orientation is %g, known are 1 to 4",
                        j->line->path, j->line->number, value);
    }
    *orientation = (int64_t)value;
    return SX_OK;
}

static sx_status member(json *j, sxi_poni_detector *d) {
    static const char *const harmless[] = {"sensor", "module_size", "dummy", "mask", "name"};
    char key[64];
    SXI_TRY(text_of(j, key, sizeof key));
    SXI_TRY(expect(j, ':'));
    if (take_word(j, "null")) {
        return SX_OK;
    }
    if (strcmp(key, "pixel1") == 0 || strcmp(key, "pixel2") == 0) {
        return number_of(j, key, &d->pixel[key[5] - '1']);
    }
    if (strcmp(key, "max_shape") == 0 || strcmp(key, "shape") == 0) {
        return pair_of(j, key, d->shape);
    }
    if (strcmp(key, "orientation") == 0) {
        return orientation_of(j, &d->orientation);
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (strcmp(key, harmless[i]) == 0) {
            return skip(j);
        }
    }
    return SXI_FAIL(SX_ERR_UNSUPPORTED,
                    "%s line %ld: '%s' of Detector_config moves pixels in a way that is not read; "
                    "known are pixel1, pixel2, max_shape and orientation",
                    j->line->path, j->line->number, key);
}

sx_status sxi_poni_config(const sxi_line *line, const char *text, sxi_poni_detector *detector) {
    json j = {line, text};
    if (take_word(&j, "None") || take_word(&j, "null")) {
        return SX_OK;
    }
    SXI_TRY(expect(&j, '{'));
    skip_blanks(&j);
    if (*j.at == '}') {
        return SX_OK;
    }
    for (;;) {
        SXI_TRY(member(&j, detector));
        skip_blanks(&j);
        if (*j.at != ',') {
            return expect(&j, '}');
        }
        j.at++;
    }
}

/* --- by name --- */

typedef struct known {
    const char *name; /* as compared: small letters and digits only */
    double pixel;     /* m */
    int64_t rows, columns;
    int64_t module[2], gap[2];
} known;

#define PILATUS 172e-6
#define EIGER 75e-6
#define PILATUS_MODULES                                                                            \
    {195, 487}, { 17, 7 }
#define EIGER_MODULES                                                                              \
    {514, 1030}, { 37, 10 }
#define EIGER2_MODULES                                                                             \
    {512, 1028}, { 38, 12 }
#define NO_MODULES                                                                                 \
    {0, 0}, { 0, 0 }

/* From the makers' data sheets. */
static const known KNOWN[] = {
    {"pilatus100k", PILATUS, 195, 487, PILATUS_MODULES},
    {"pilatus200k", PILATUS, 407, 487, PILATUS_MODULES},
    {"pilatus300k", PILATUS, 619, 487, PILATUS_MODULES},
    {"pilatus300kw", PILATUS, 195, 1475, PILATUS_MODULES},
    {"pilatus1m", PILATUS, 1043, 981, PILATUS_MODULES},
    {"pilatus2m", PILATUS, 1679, 1475, PILATUS_MODULES},
    {"pilatus6m", PILATUS, 2527, 2463, PILATUS_MODULES},
    {"eiger500k", EIGER, 514, 1030, EIGER_MODULES},
    {"eiger1m", EIGER, 1065, 1030, EIGER_MODULES},
    {"eiger4m", EIGER, 2167, 2070, EIGER_MODULES},
    {"eiger9m", EIGER, 3269, 3110, EIGER_MODULES},
    {"eiger16m", EIGER, 4371, 4150, EIGER_MODULES},
    {"eiger2250k", EIGER, 512, 512, EIGER2_MODULES},
    {"eiger2500k", EIGER, 512, 1028, EIGER2_MODULES},
    {"eiger21m", EIGER, 1062, 1028, EIGER2_MODULES},
    {"eiger21mw", EIGER, 512, 2068, EIGER2_MODULES},
    {"eiger22mw", EIGER, 512, 4148, EIGER2_MODULES},
    {"eiger24m", EIGER, 2162, 2068, EIGER2_MODULES},
    {"eiger29m", EIGER, 3262, 3108, EIGER2_MODULES},
    {"eiger216m", EIGER, 4362, 4148, EIGER2_MODULES},
    {"rayonixmx170hs", 44.2708e-6, 3840, 3840, NO_MODULES},
    {"rayonixmx225hs", 39.0625e-6, 5760, 5760, NO_MODULES},
    {"rayonixmx340hs", 44.2708e-6, 7680, 7680, NO_MODULES},
};

/* "Eiger2 CdTe 1M-W" as "eiger21mw": the sensor does not move pixels. */
static void plain(const char *name, char *word, size_t size) {
    size_t n = 0;
    for (; *name && n + 1 < size; name++) {
        if (isalnum((unsigned char)*name)) {
            word[n++] = (char)tolower((unsigned char)*name);
        }
    }
    word[n] = '\0';
    char *sensor = strstr(word, "cdte");
    if (sensor) {
        memmove(sensor, sensor + 4, strlen(sensor + 4) + 1);
    }
}

/* Pixels of the file against those of the detector: a whole number of them together. */
static sx_status bin(const char *path, const known *k, sxi_poni_detector *d) {
    const int64_t most[2] = {k->rows, k->columns};
    for (int a = 0; a < 2; a++) {
        const double wanted = d->pixel[a] > 0 ? d->pixel[a] / k->pixel : 1;
        const double whole = round(wanted);
        /* Files round sizes of pixels to five digits. */
        if (!(whole >= 1 && whole <= 16) || fabs(wanted - whole) > 1e-3 * whole) {
            return SXI_FAIL(SX_ERR_FORMAT, "%s: pixels of %g m are no multiple of the %g m of a %s",
                            path, d->pixel[a], k->pixel, d->name);
        }
        if (!(d->pixel[a] > 0)) {
            d->pixel[a] = k->pixel;
        }
        if (d->shape[a] == 0) {
            d->shape[a] = most[a] / (int64_t)whole;
        }
        if (whole == 1 && d->shape[a] == most[a]) {
            d->module[a] = k->module[a];
            d->gap[a] = k->gap[a];
        }
    }
    return SX_OK;
}

sx_status sxi_poni_complete(const char *path, sxi_poni_detector *d) {
    char word[64];
    plain(d->name, word, sizeof word);
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strcmp(KNOWN[i].name, word) == 0) {
            return bin(path, &KNOWN[i], d);
        }
    }
    const bool pixels = d->pixel[0] > 0 && d->pixel[1] > 0, shape = d->shape[0] > 0;
    if (*word && strcmp(word, "detector") != 0) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s: a detector '%s' is not known, and its pixels may not lie on one grid; "
                        "if they do, write 'Detector: Detector' and Detector_config: {\"pixel1\": "
                        "metres, \"pixel2\": metres, \"max_shape\": [rows, columns]}",
                        path, d->name);
    }
    if (!pixels || !shape) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s does not say %s; add Detector_config: {\"pixel1\": metres, \"pixel2\": "
                        "metres, \"max_shape\": [rows, columns]}",
                        path, pixels ? "how many pixels there are" : "how large pixels are");
    }
    return SX_OK;
}
