/* SPDX-License-Identifier: Apache-2.0 */
#include "sagips/theory/theory.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"

static const sx_theory *const theories[] = {&sxi_theory_proxy1d, &sxi_theory_proxy2d,
                                            &sxi_theory_lifetime};
enum { COUNT = sizeof theories / sizeof theories[0] };

int sx_theory_count(void) { return COUNT; }

const sx_theory *sx_theory_at(int i) { return i >= 0 && i < COUNT ? theories[i] : NULL; }

sx_status sx_theory_find(const char *name, const sx_theory **theory) {
    char names[256] = "";
    for (int i = 0; i < COUNT; i++) {
        if (strcmp(theories[i]->name, name) == 0) {
            *theory = theories[i];
            return SX_OK;
        }
        strncat(names, i ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, theories[i]->name, sizeof names - strlen(names) - 1);
    }
    return SXI_FAIL(SX_ERR_MISSING, "there is no problem '%.40s'; there are %s", name, names);
}

int sxi_theory_column(const sx_theory *theory, int channel) {
    int column = 0;
    for (int k = 0; k < channel; k++) {
        column += theory->channel[k].dimensions;
    }
    return column;
}
