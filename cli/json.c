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
