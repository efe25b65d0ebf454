/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/origin.h"

#include <string.h>

static void add(sxi_origins *origins, const char *path) {
    for (int i = 0; i < origins->n; i++) {
        if (strcmp(origins->path[i], path) == 0) {
            return;
        }
    }
    if (origins->n < SXI_ORIGINS) {
        origins->path[origins->n++] = path;
    }
}

void sxi_origins_add(sxi_origins *origins, const sx_darray *array) {
    if (array->kind == SXI_NODE_FILE) {
        add(origins, sx_hdf5_path_of(array->file->file));
    }
    for (int i = 0; i < SXI_ORIGINS && array->origin[i]; i++) {
        add(origins, array->origin[i]);
    }
    for (int k = 0; k < 2 && array->input[k]; k++) {
        sxi_origins_add(origins, array->input[k]);
    }
}

void sxi_origins_keep(const sxi_origins *origins, sx_darray *array) {
    sxi_origins all = {0};
    if (array->kind != SXI_NODE_MEMORY) {
        return;
    }
    sxi_origins_add(&all, array);
    int n = all.n;
    for (int i = 0; i < origins->n; i++) {
        add(&all, origins->path[i]);
    }
    for (int i = n; i < all.n; i++) {
        array->origin[n] = strdup(all.path[i]);
        n += array->origin[n] != NULL;
    }
}
