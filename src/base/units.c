/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"

enum { UNIT_BYTES = 32 };

static const struct {
    const char *symbol;
    const char *word;
    double ps; /* of a second with this prefix */
} prefixes[] = {
    {"m", "milli", 1e9},        {"u", "micro", 1e6}, {"\xc2\xb5", "micro", 1e6}, /* micro sign */
    {"\xce\xbc", "micro", 1e6},                                                  /* Greek mu */
    {"\xb5", "micro", 1e6},                                                      /* Latin-1 */
    {"n", "nano", 1e3},         {"p", "pico", 1},    {"f", "femto", 1e-3},
    {"a", "atto", 1e-6},        {"", "", 1e12}, /* last: it matches everything */
};

/* Lower case, without blanks and the signs that stand between prefix and unit. */
static void simplify(const char *unit, char *text) {
    size_t used = 0;
    for (; *unit && used < UNIT_BYTES - 1; unit++) {
        if (!isspace((unsigned char)*unit) && !strchr("._-", *unit)) {
            text[used++] = (char)tolower((unsigned char)*unit);
        }
    }
    text[used] = '\0';
}

static bool is_second(const char *text) {
    static const char *const names[] = {"s", "sec", "secs", "second", "seconds"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

sx_status sxi_unit_time(const char *unit, double *ps) {
    char text[UNIT_BYTES];
    simplify(unit, text);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const char *const start[] = {prefixes[i].word, prefixes[i].symbol};
        for (int j = 0; j < 2; j++) {
            const size_t length = strlen(start[j]);
            if (strncmp(text, start[j], length) == 0 && is_second(text + length)) {
                *ps = prefixes[i].ps;
                return SX_OK;
            }
        }
    }
    return SXI_FAIL(SX_ERR_UNIT,
                    "'%s' is not a unit of time known here (s, ms, us, ns, ps, fs, as)", unit);
}
