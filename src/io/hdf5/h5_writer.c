/* SPDX-License-Identifier: Apache-2.0
 * The life of an output: a temporary file beside the target, renamed when complete. */
#include "io/hdf5/h5_locked.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 200, ATTEMPTS = 100 }; /* of NAME_MAX = 255 the rest is for ".PID-N.tmp" */

static void folder_of(const char *path, char *folder, size_t size) {
    char copy[PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    snprintf(folder, size, "%s", dirname(copy));
}

static sx_status check_folder(const char *path) {
    char folder[PATH_MAX];
    struct stat about;
    folder_of(path, folder, sizeof folder);
    if (stat(folder, &about) != 0) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be written: the folder %s: %s", path, folder,
                        strerror(errno));
    }
    if (!S_ISDIR(about.st_mode)) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s is a file, not a folder", path,
                        folder);
    }
    if (access(folder, W_OK | X_OK) != 0) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be written: the folder %s: %s", path, folder,
                        strerror(errno));
    }
    return SX_OK;
}

/* Whether the output would replace one of the inputs, under whatever name. */
static sx_status check_inputs(const char *path, const struct stat *target, int inputs,
                              const char *const *paths) {
    for (int i = 0; i < inputs; i++) {
        struct stat about;
        if (stat(paths[i], &about) == 0 && about.st_dev == target->st_dev &&
            about.st_ino == target->st_ino) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "%s is the input %s: the output must be another file",
                            path, paths[i]);
        }
    }
    return SX_OK;
}

sx_status sxi_h5_output_check(const char *path, bool overwrite, int inputs,
                              const char *const *paths) {
    const size_t length = strlen(path);
    if (length == 0 || length >= PATH_MAX || path[length - 1] == '/') {
        return SXI_FAIL(SX_ERR_ARGUMENT, "'%s' is not the name of an output file", path);
    }
    struct stat about;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode)) {
            return SXI_FAIL(SX_ERR_IO, "%s is a folder, the output must be a file", path);
        }
        if (!S_ISREG(about.st_mode)) {
            return SXI_FAIL(SX_ERR_IO, "%s is not a regular file, the output must be one", path);
        }
        SXI_TRY(check_inputs(path, &about, inputs, paths));
    }
    if (!overwrite && lstat(path, &about) == 0) { /* a link that leads nowhere exists too */
        return SXI_FAIL(SX_ERR_EXISTS, "%s exists; it is kept unless --overwrite is given", path);
    }
    return check_folder(path);
}

static void writer_free(sxi_h5_writer *writer) {
    free(writer->path);
    free(writer->temporary);
    free(writer);
}

/* Creates the temporary file, beside the target so that it can be renamed. */
static sx_status create_temporary(sxi_h5_writer *writer) {
    char folder[PATH_MAX];
    char path[PATH_MAX + NAME_MAX + 2];
    folder_of(writer->path, folder, sizeof folder);
    const char *slash = strrchr(writer->path, '/');
    const char *name = slash ? slash + 1 : writer->path;
    sx_status status = SX_ERR_EXISTS;
    for (int i = 0; status == SX_ERR_EXISTS && i < ATTEMPTS; i++) {
        /* A number for a second writer of this process and for what a killed one left. */
        int used =
            snprintf(path, sizeof path, "%s/.%.*s.%ld", folder, NAME_ROOM, name, (long)getpid());
        snprintf(path + used, sizeof path - (size_t)used, i ? "-%d.tmp" : ".tmp", i);
        status = sxi_h5_sink_create(path, &writer->error, &writer->id);
    }
    if (status != SX_OK) {
        return sxi_fail_context(status, "%s", writer->path);
    }
    writer->temporary = strdup(path);
    if (!writer->temporary) {
        H5Fclose(writer->id);
        unlink(path);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", writer->path);
    }
    return SX_OK;
}

sx_status sxi_h5_create(const char *path, bool overwrite, sxi_h5_writer **writer) {
    *writer = NULL;
    SXI_TRY(sxi_h5_output_check(path, overwrite, 0, NULL));
    sxi_h5_writer *created = calloc(1, sizeof *created);
    char *target = realpath(path, NULL); /* write where a link points to, keep the link */
    if (!target) {
        target = strdup(path);
    }
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

/* A file that appeared under the target's name meanwhile is not lost: link() does not replace. */
static int rename_new(const char *from, const char *to) {
    if (link(from, to) == 0) {
        unlink(from);
        return 0;
    }
    struct stat about;
    if (errno == EEXIST || lstat(to, &about) == 0) {
        return EEXIST;
    }
    /* A file system without hard links. */
    return rename(from, to) == 0 ? 0 : errno;
}

/* The new name must survive a power cut too. Not every file system can do that: no error. */
static void sync_folder(const char *path) {
    char folder[PATH_MAX];
    folder_of(path, folder, sizeof folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static sx_status publish(const sxi_h5_writer *writer) {
    int error = 0;
    if (writer->overwrite) {
        error = rename(writer->temporary, writer->path) == 0 ? 0 : errno;
    } else {
        error = rename_new(writer->temporary, writer->path);
    }
    if (error == EEXIST) {
        return SXI_FAIL(SX_ERR_EXISTS,
                        "%s appeared while it was being written; it is kept, the new result is not",
                        writer->path);
    }
    if (error) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be put in place: %s", writer->path, strerror(error));
    }
    sync_folder(writer->path);
    return SX_OK;
}

sx_status sxi_h5_commit(sxi_h5_writer **writer) {
    sxi_h5_writer *done = *writer;
    *writer = NULL;
    sx_status status = SX_OK;
    sxi_h5_enter();
    const herr_t flushed = H5Fflush(done->id, H5F_SCOPE_GLOBAL);
    const herr_t closed = H5Fclose(done->id);
    if (done->error || flushed < 0 || closed < 0) {
        status = sxi_h5_write_failed(done, "last step");
    }
    sxi_h5_leave();
    if (status == SX_OK) {
        status = publish(done);
    }
    if (status != SX_OK) {
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
    H5Fclose(left->id);
    sxi_h5_leave();
    unlink(left->temporary);
    writer_free(left);
}
