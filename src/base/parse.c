/* SPDX-License-Identifier: Apache-2.0
 * Numbers as people and files write them, and the nearest of some words. */
#include <sextant/options.h>

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

sx_status sx_parse_real(const char *text, double *value) {
    char *end = NULL;
    double read = 0.0;
    /* strtod also takes blanks, "0x1p3", "inf" and "nan". */
    if (*text != '\0' && text[strspn(text, "0123456789+-.eE")] == '\0') {
        /* A program around the library may have set a locale with a decimal comma. */
        locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        locale_t before = plain ? uselocale(plain) : (locale_t)0;
        read = strtod(text, &end);
        if (plain) {
            uselocale(before);
            freelocale(plain);
        }
    }
    if (!end || end == text || *end != '\0') {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is not a number", text);
    }
    if (!isfinite(read)) {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is too large for a number", text);
    }
    *value = read;
    return SX_OK;
}

sx_status sx_parse_int(const char *text, int64_t *value) {
    const char *digits = text + (*text == '-' || *text == '+');
    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is not a whole number", text);
    }
    errno = 0;
    const long long read = strtoll(text, NULL, 10);
    if (errno == ERANGE) {
        return SXI_FAIL(SX_ERR_USAGE, "'%s' is too large for a whole number", text);
    }
    *value = read;
    return SX_OK;
}

enum { WORD = 63 }; /* longer words are compared by their front */

static int least(int a, int b) { return a < b ? a : b; }

/* Letters to insert, delete, replace or swap with a neighbour to get from a to b (Damerau 1964). */
static int distance(const char *a, const char *b) {
    const int na = (int)strnlen(a, WORD), nb = (int)strnlen(b, WORD);
    int d[WORD + 1][WORD + 1];
    for (int i = 0; i <= na; i++) {
        for (int j = 0; j <= nb; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                            d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[na][nb];
}

const char *sx_nearest(const char *word, const char *const *words, int count) {
    const char *nearest = NULL;
    /* One slip in three letters: more of them make another word. All letters wrong is no slip. */
    const int length = (int)strnlen(word, WORD);
    int best = least((length + 2) / 3 + 1, length);
    for (int i = 0; i < count; i++) {
        const int d = distance(word, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}
