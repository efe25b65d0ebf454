/* SPDX-License-Identifier: Apache-2.0
 * Points of high symmetry by name, in conventional (h, k, l). Of the equivalent points of a name
 * those are listed which lie next to one another along the usual paths. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "xani/crystal/crystal.h"

typedef struct point {
    char name;
    double hkl[3];
} point;

enum { MOST_POINTS = 8, MOST_STOPS = 64 };

typedef struct lattice {
    const char *words;
    int points;
    point point[MOST_POINTS];
} lattice;

/* Sources: Bradley and Cracknell 1972; Setyawan and Curtarolo 2010. */
static const lattice simple_cubic = {
    "simple cubic", 4, {{'G', {0}}, {'X', {.5, 0, 0}}, {'M', {.5, .5, 0}}, {'R', {.5, .5, .5}}}};
static const lattice face_centred = {"face-centred cubic",
                                     6,
                                     {{'G', {0}},
                                      {'X', {1, 0, 0}},
                                      {'W', {1, .5, 0}},
                                      {'K', {.75, .75, 0}},
                                      {'L', {.5, .5, .5}},
                                      {'U', {1, .25, .25}}}};
static const lattice body_centred = {
    "body-centred cubic",
    4,
    {{'G', {0}}, {'H', {1, 0, 0}}, {'N', {.5, .5, 0}}, {'P', {.5, .5, .5}}}};
static const lattice hexagonal = {"hexagonal",
                                  6,
                                  {{'G', {0}},
                                   {'M', {.5, 0, 0}},
                                   {'K', {1. / 3, 1. / 3, 0}},
                                   {'A', {0, 0, .5}},
                                   {'L', {.5, 0, .5}},
                                   {'H', {1. / 3, 1. / 3, .5}}}};
static const lattice any = {"this", 1, {{'G', {0}}}};

static bool near(double a, double b) { return fabs(a - b) <= 1e-4 * fabs(b); }

static const lattice *lattice_of(const sx_crystal *crystal) {
    const double *c = crystal->cell;
    if (near(c[1], c[0]) && near(c[2], c[0]) && near(c[3], 90) && near(c[4], 90) &&
        near(c[5], 90)) {
        return crystal->centring == 'P'   ? &simple_cubic
               : crystal->centring == 'F' ? &face_centred
               : crystal->centring == 'I' ? &body_centred
                                          : &any;
    }
    const bool six = near(c[1], c[0]) && near(c[3], 90) && near(c[4], 90) && near(c[5], 120);
    return six && crystal->centring == 'P' ? &hexagonal : &any;
}

static sx_status fail(const lattice *of, const char *word, size_t length) {
    char names[4 * MOST_POINTS] = "";
    for (int k = 0; k < of->points; k++) {
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%c", k ? ", " : "",
                 of->point[k].name);
    }
    return SXI_FAIL(SX_ERR_USAGE,
                    "'%.*s' is no point of a path; expected (h,k,l) or, in the %s lattice, one of "
                    "%s, as in G-(1,0,0)",
                    (int)(length < 24 ? length : 24), word, of->words, names);
}

/* "(1, 0.5, 0)" */
static bool read_indices(const char *word, size_t length, double hkl[3]) {
    char copy[64], *rest = NULL;
    if (length < 7 || length >= sizeof copy || word[0] != '(' || word[length - 1] != ')') {
        return false;
    }
    snprintf(copy, sizeof copy, "%.*s", (int)length - 2, word + 1);
    char *part = strtok_r(copy, ", ", &rest);
    for (int k = 0; k < 3; k++) {
        if (!part || sx_parse_real(part, hkl + k) != SX_OK) {
            return false;
        }
        part = strtok_r(NULL, ", ", &rest);
    }
    return part == NULL;
}

static bool is_gamma(const char *word, size_t length) {
    const char *const names[] = {"\xCE\x93", "Gamma", "GM"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (length == strlen(names[k]) && memcmp(word, names[k], length) == 0) {
            return true;
        }
    }
    return false;
}

static sx_status read_stop(const lattice *of, const char *word, size_t length,
                           sx_crystal_stop *stop) {
    const char name = is_gamma(word, length) ? 'G' : word[0];
    snprintf(stop->label, sizeof stop->label, "%.*s", (int)length, word);
    if (read_indices(word, length, stop->hkl)) {
        return SX_OK;
    }
    for (int k = 0; k < of->points; k++) {
        if ((length == 1 || is_gamma(word, length)) && of->point[k].name == name) {
            memcpy(stop->hkl, of->point[k].hkl, sizeof stop->hkl);
            snprintf(stop->label, sizeof stop->label, "%c", name);
            return SX_OK;
        }
    }
    return fail(of, word, length);
}

/* Up to a "-" or "|" that is not within brackets. */
static size_t word_length(const char *word) {
    return word[0] == '(' ? strcspn(word, ")") + (strchr(word, ')') != NULL) : strcspn(word, "-|");
}

static sx_status read_stops(const lattice *of, const char *text, sx_crystal_stop *stops,
                            int *count) {
    bool jump = true;
    for (const char *at = text; at;) {
        const size_t length = word_length(at);
        const char end = at[length];
        if (*count == MOST_STOPS) {
            return SXI_FAIL(SX_ERR_USAGE, "the path has more than %d points", MOST_STOPS);
        }
        sx_crystal_stop *stop = stops + (*count)++;
        stop->jump = jump;
        SXI_TRY(read_stop(of, at, length, stop));
        if (end != '\0' && end != '-' && end != '|') {
            return fail(of, at, strlen(at));
        }
        if (jump && end != '-') {
            return SXI_FAIL(SX_ERR_USAGE, "the path '%.60s' has a part of a single point, %s", text,
                            stop->label);
        }
        jump = end == '|';
        at = end ? at + length + 1 : NULL;
    }
    return SX_OK;
}

sx_status sx_crystal_path(const sx_crystal *crystal, const char *text, sx_crystal_stop **stops,
                          int *count) {
    sx_crystal_stop *made = calloc(MOST_STOPS, sizeof *made);
    int found = 0;
    if (!made) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for a path");
    }
    const sx_status status = read_stops(lattice_of(crystal), text, made, &found);
    if (status != SX_OK) {
        free(made);
        return status;
    }
    *stops = made;
    *count = found;
    return SX_OK;
}
