/* SPDX-License-Identifier: Apache-2.0
 * The life of an HDF5 output. */
#include "io/hdf5/h5_locked.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"

static void writer_free(sxi_h5_writer *writer) {
    free(writer->path);
    free(writer->temporary);
    free(writer);
}

/* Creates the temporary file, beside the target so that it can be renamed. */
static sx_status create_temporary(sxi_h5_writer *writer) {
    char path[PATH_MAX + NAME_MAX + 2];
    sx_status status = SX_ERR_EXISTS;
    for (int i = 0; status == SX_ERR_EXISTS && i < SXI_OUTPUT_ATTEMPTS; i++) {
        sxi_output_temporary(writer->path, (long)getpid(), i, path, sizeof path);
        status = sxi_h5_sink_create(path, writer);
    }
    if (status != SX_OK) {
        return sxi_fail_context(status, "%s", writer->path);
    }
    writer->temporary = strdup(path);
    if (!writer->temporary) {
        sxi_h5_sink_close(writer);
        unlink(path);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", writer->path);
    }
    return SX_OK;
}

sx_status sxi_h5_create(const char *path, bool overwrite, sxi_h5_writer **writer) {
    *writer = NULL;
    SXI_TRY(sxi_output_check(path, overwrite, 0, NULL));
    sxi_h5_writer *created = calloc(1, sizeof *created);
    char *target = sxi_output_target(path);
    if (!created || !target) {
        free(created);
        free(target);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", path);
    }
    created->path = target;
    created->overwrite = overwrite;
    sxi_h5_enter();
    sx_status status = create_temporary(created);
    sxi_h5_leave();
    if (status != SX_OK) {
        writer_free(created);
        return status;
    }
    *writer = created;
    return SX_OK;
}

sx_status sxi_h5_write_failed(const sxi_h5_writer *writer, const char *what) {
    char reason[SXI_H5_REASON];
    return SXI_FAIL(SX_ERR_IO, "%s cannot be written (%s): %s", writer->path, what,
                    writer->error ? strerror(writer->error) : sxi_h5_reason(reason, sizeof reason));
}

sx_status sxi_h5_commit(sxi_h5_writer **writer) {
    sxi_h5_writer *done = *writer;
    *writer = NULL;
    sx_status status = SX_OK;
    sxi_h5_enter();
    const herr_t flushed = H5Fflush(done->id, H5F_SCOPE_GLOBAL);
    const herr_t closed = sxi_h5_sink_close(done);
    if (done->error || flushed < 0 || closed < 0) {
        status = sxi_h5_write_failed(done, "last step");
    }
    sxi_h5_leave();
    if (status == SX_OK) {
        status = sxi_output_publish(done->temporary, done->path, done->overwrite);
    } else {
        unlink(done->temporary);
    }
    writer_free(done);
    return status;
}

void sxi_h5_abandon(sxi_h5_writer **writer) {
    if (!writer || !*writer) {
        return;
    }
    sxi_h5_writer *left = *writer;
    *writer = NULL;
    left->error = left->error ? left->error : ECANCELED; /* nothing more goes to the disk */
    sxi_h5_enter();
    sxi_h5_sink_close(left);
    sxi_h5_leave();
    unlink(left->temporary);
    writer_free(left);
}
