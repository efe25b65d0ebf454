/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/dispersion/bands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/options.h>

#include "base/fail.h"
#include "io/table/slurp.h"

/* 1/Angstrom with 2 pi: as far as pixels lie from a path by default. */
static const double NEAR = 0.02;

enum { COLUMNS = 256 };

void sxi_bands_free(sxi_bands *b) {
    sx_phonons_destroy(&b->phonons);
    free(b->q);
    free(b->frequency);
    *b = (sxi_bands){0};
}

/* --- force constants --- */

sx_status sxi_bands_model(sx_phonons **phonons, const sx_crystal *crystal, const char *poscar,
                          sxi_bands *b) {
    *b = (sxi_bands){.count = 3 * (*phonons)->atoms, .phonons = *phonons, .crystal = crystal};
    *phonons = NULL;
    for (int i = 0; i < 3; i++) {
        double axis[3] = {0}, q[3];
        axis[i] = 1;
        sx_phonons_q(b->phonons, axis, q);
        const double model = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
        const double own = sx_crystal_length(crystal, axis);
        if (!(fabs(model / own - 1) < 0.02)) {
            sxi_bands_free(b);
            return SXI_FAIL(SX_ERR_FORMAT,
                            "the cell of %s has a reciprocal axis %c* of %.4g 1/Angstrom, that of "
                            "the crystal %.4g: give both for the same cell",
                            poscar, "abc"[i], model, own);
        }
    }
    return SX_OK;
}

/* --- a table --- */

/* Where h, k, l and the bands stand in a line. */
typedef struct layout {
    int hkl[3], band[COLUMNS], bands, columns;
} layout;

/* The fields of a line, cut at commas, without blanks around them. */
static int split(char *line, char *field[COLUMNS]) {
    int count = 0;
    for (char *at = line; at && count < COLUMNS;) {
        char *comma = strchr(at, ',');
        if (comma) {
            *comma = '\0';
        }
        at += strspn(at, " \t#");
        for (size_t n = strlen(at); n > 0 && strchr(" \t\r", at[n - 1]); n--) {
            at[n - 1] = '\0';
        }
        field[count++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

/* Whether a line names columns. */
static bool read_names(int count, char *const *field, layout *l) {
    layout found = {.hkl = {-1, -1, -1}, .columns = count};
    for (int c = 0; c < count; c++) {
        for (int d = 0; d < 3; d++) {
            if (field[c][0] == "hkl"[d] && field[c][1] == '\0') {
                found.hkl[d] = c;
            }
        }
        char name[16];
        snprintf(name, sizeof name, "f%d", found.bands + 1);
        if (strcmp(field[c], name) == 0) {
            found.band[found.bands++] = c;
        }
    }
    const bool names =
        found.hkl[0] >= 0 && found.hkl[1] >= 0 && found.hkl[2] >= 0 && found.bands > 0;
    *l = names ? found : *l;
    return names;
}

static sx_status read_number(const char *path, int line, const char *word, const char *what,
                             double *value) {
    return sx_parse_real(word, value) == SX_OK
               ? SX_OK
               : SXI_FAIL(SX_ERR_FORMAT, "%s line %d: %s is '%.40s', expected a number", path, line,
                          what, word);
}

static sx_status read_row(const char *path, int line, const layout *l, char *const *field,
                          sxi_bands *b) {
    double hkl[3];
    for (int d = 0; d < 3; d++) {
        const char name[] = {"hkl"[d], 0};
        SXI_TRY(read_number(path, line, field[l->hkl[d]], name, hkl + d));
    }
    sx_crystal_reduce(b->crystal, hkl, b->q + 3 * b->rows);
    for (int k = 0; k < l->bands; k++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", k + 1);
        SXI_TRY(read_number(path, line, field[l->band[k]], name,
                            b->frequency + b->rows * l->bands + k));
    }
    b->rows++;
    return SX_OK;
}

static int64_t lines_of(const char *text) {
    int64_t lines = 1;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static sx_status read_table(const char *path, char *text, sxi_bands *b) {
    const int64_t most = lines_of(text);
    layout l = {0};
    int number = 0;
    for (char *line = text; line;) {
        char *field[COLUMNS], *next = strchr(line, '\n');
        const char first = line[strspn(line, " \t\r")];
        number++;
        if (next) {
            *next = '\0';
        }
        const int count = split(line, field);
        if (first == '\0' || first == '\n') {
            line = next ? next + 1 : NULL;
            continue;
        }
        if (b->rows == 0 && read_names(count, field, &l)) {
            free(b->q);
            free(b->frequency);
            b->count = l.bands;
            b->q = malloc((size_t)(3 * most) * sizeof *b->q);
            b->frequency = malloc((size_t)(most * l.bands) * sizeof *b->frequency);
            if (!b->q || !b->frequency) {
                return SXI_FAIL(SX_ERR_MEMORY, "no memory for the bands of %s", path);
            }
        } else if (first != '#') {
            if (l.bands == 0) {
                return SXI_FAIL(
                    SX_ERR_FORMAT,
                    "%s line %d: numbers found, expected a line before them that names the "
                    "columns: h, k, l, f1, f2, ...",
                    path, number);
            }
            if (count != l.columns) {
                return SXI_FAIL(SX_ERR_FORMAT, "%s line %d: %d columns found, expected %d", path,
                                number, count, l.columns);
            }
            SXI_TRY(read_row(path, number, &l, field, b));
        }
        line = next ? next + 1 : NULL;
    }
    return b->rows > 0 ? SX_OK : SXI_FAIL(SX_ERR_FORMAT, "%s holds no bands", path);
}

sx_status sxi_bands_read(const char *path, const sx_crystal *crystal, sxi_bands *b) {
    char *text = NULL;
    *b = (sxi_bands){.crystal = crystal};
    SXI_TRY(sxi_slurp(path, "a table of bands", &text));
    const sx_status status = read_table(path, text, b);
    free(text);
    if (status != SX_OK) {
        sxi_bands_free(b);
    }
    return status;
}

/* --- both --- */

static double between(const sxi_bands *b, const double *one, const double *other) {
    const double apart[3] = {one[0] - other[0], one[1] - other[1], one[2] - other[2]};
    return sx_crystal_length(b->crystal, apart);
}

/* The nearest row, or (beside: not NULL) the nearest on the other side of q from there; -1: none. */
static int64_t nearest_row(const sxi_bands *b, const double q[3], const double *beside,
                           double farthest, double *length) {
    int64_t row = -1;
    *length = farthest;
    for (int64_t i = 0; i < b->rows; i++) {
        const double *at = b->q + 3 * i, here = between(b, q, at);
        if (here > *length) {
            continue;
        }
        if (beside) { /* an obtuse angle, by the lengths of the triangle */
            const double there = between(b, q, beside), side = between(b, at, beside);
            if (!(here * here + there * there < side * side)) {
                continue;
            }
        }
        *length = here;
        row = i;
    }
    return row;
}

/* Of a table: on the line from the nearest row to the nearest beyond q. */
static void look_up(const sxi_bands *b, const double hkl[3], double *frequency) {
    double q[3], first, second = 0;
    sx_crystal_reduce(b->crystal, hkl, q);
    const int64_t one = nearest_row(b, q, NULL, NEAR, &first);
    const int64_t other =
        one < 0 || first == 0 ? -1 : nearest_row(b, q, b->q + 3 * one, 2 * NEAR, &second);
    const double t = other < 0 ? 0 : first / (first + second);
    for (int k = 0; k < b->count; k++) {
        const double f = one < 0 ? (double)NAN : b->frequency[one * b->count + k];
        frequency[k] = other < 0 ? f : f + t * (b->frequency[other * b->count + k] - f);
    }
}

sx_status sxi_bands_at(const sxi_bands *b, const double hkl[3], double *frequency) {
    if (b->phonons) {
        return sx_phonons_modes(b->phonons, hkl, frequency, NULL);
    }
    look_up(b, hkl, frequency);
    return SX_OK;
}
