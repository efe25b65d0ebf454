/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdio.h>

sx_status cli_print_json(json_t *object) {
    if (!object) {
        return SX_ERR_MEMORY;
    }
    const int failed = json_dumpf(object, stdout, JSON_REAL_PRECISION(15));
    json_decref(object);
    putchar('\n');
    return failed ? SX_ERR_IO : SX_OK;
}

json_t *cli_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *cli_json_text(const char *text) {
    json_t *string = json_string(text);
    if (string) {
        return string;
    }
    char ascii[4096];
    size_t i = 0;
    for (; i < sizeof ascii - 1 && text[i]; i++) {
        ascii[i] = (unsigned char)text[i] < 128 ? text[i] : '?';
    }
    ascii[i] = '\0';
    return json_string(ascii);
}
