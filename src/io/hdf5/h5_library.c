/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/h5_library.h"

#include <stdio.h>
#include <string.h>

#include "io/hdf5/h5_locked.h"

static void read_plugin_path(char *path, size_t size) {
    unsigned count = 0;
    size_t length = 0;
    if (H5PLsize(&count) < 0) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        char folder[256];
        if (H5PLget(i, folder, sizeof folder) > 0 && length + strlen(folder) + 2 < size) {
            length += (size_t)snprintf(path + length, size - length, "%s%s", i ? ":" : "", folder);
        }
    }
}

void sxi_h5_library_get(sxi_h5_library *library) {
    unsigned major = 0, minor = 0, release = 0;
    hbool_t safe = 0;
    *library = (sxi_h5_library){0};
    sxi_h5_enter();
    H5get_libversion(&major, &minor, &release);
    H5is_library_threadsafe(&safe);
    library->has_deflate = H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0;
    library->has_shuffle = H5Zfilter_avail(H5Z_FILTER_SHUFFLE) > 0;
    library->has_szip = H5Zfilter_avail(H5Z_FILTER_SZIP) > 0;
    read_plugin_path(library->plugin_path, sizeof library->plugin_path);
    sxi_h5_leave();
    library->thread_safe = safe > 0;
    snprintf(library->version, sizeof library->version, "%u.%u.%u", major, minor, release);
}
