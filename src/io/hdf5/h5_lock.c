/* SPDX-License-Identifier: Apache-2.0
 * One lock around the HDF5 library, and its error stack read as a sentence. */
#include "io/hdf5/h5_locked.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* The caller's way of printing HDF5 errors; guarded by the gate. HDF5 keeps it per thread. */
static H5E_auto2_t printer;
static void *printer_data;

void sxi_h5_enter(void) {
    pthread_mutex_lock(&gate);
    printer = NULL;
    printer_data = NULL;
    H5Eget_auto2(H5E_DEFAULT, &printer, &printer_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5Eclear2(H5E_DEFAULT);
}

void sxi_h5_leave(void) {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, printer, printer_data);
    pthread_mutex_unlock(&gate);
}

typedef struct reason {
    char *text;
    size_t size;
} reason;

static herr_t keep_first(unsigned depth, const H5E_error2_t *error, void *data) {
    (void)depth;
    reason *kept = data;
    if (kept->text[0] != '\0' || !error->desc || error->desc[0] == '\0') {
        return 0;
    }
    snprintf(kept->text, kept->size, "%s", error->desc);
    return 0;
}

const char *sxi_h5_reason(char *text, size_t size) {
    text[0] = '\0';
    reason kept = {text, size};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &kept);
    if (text[0] == '\0') {
        snprintf(text, size, "the HDF5 library gives no reason");
    }
    return text;
}
