/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fail.h"

enum { NAME_ROOM = 200 }; /* of NAME_MAX = 255; the rest is for ".PID-N.tmp" */

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

sx_status sxi_output_check(const char *path, bool overwrite, int inputs, const char *const *paths) {
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

sx_status sxi_inputs_differ(int inputs, const char *const *paths) {
    sx_status status = SX_OK;
    struct stat *about = calloc((size_t)inputs + 1, sizeof *about);
    if (!about) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %d inputs", inputs);
    }
    for (int i = 0; i < inputs && status == SX_OK; i++) {
        if (stat(paths[i], about + i) != 0) {
            about[i].st_ino = 0; /* whoever opens it tells */
            continue;
        }
        for (int k = 0; k < i && status == SX_OK; k++) {
            if (about[k].st_ino == about[i].st_ino && about[k].st_dev == about[i].st_dev) {
                status = SXI_FAIL(SX_ERR_ARGUMENT,
                                  "%s and %s are the same, which would count twice: give it once",
                                  paths[k], paths[i]);
            }
        }
    }
    free(about);
    return status;
}

sx_status sxi_output_room(const char *path, int64_t bytes) {
    char folder[PATH_MAX];
    struct statvfs about;
    folder_of(path, folder, sizeof folder);
    if (statvfs(folder, &about) != 0 || about.f_blocks == 0) { /* some file systems do not count */
        return SX_OK;
    }
    const double room = (double)about.f_bavail * (double)about.f_frsize;
    return (double)bytes <= room
               ? SX_OK
               : SXI_FAIL(SX_ERR_IO,
                          "%s needs %lld bytes, its disk has room for %.0f; make room, or write a "
                          "part",
                          path, (long long)bytes, room);
}

char *sxi_output_target(const char *path) {
    char *target = realpath(path, NULL);
    return target ? target : strdup(path);
}

void sxi_output_temporary(const char *target, long pid, int attempt, char *name, size_t size) {
    char folder[PATH_MAX];
    folder_of(target, folder, sizeof folder);
    const char *slash = strrchr(target, '/');
    const int used =
        snprintf(name, size, "%s/.%.*s.%ld", folder, NAME_ROOM, slash ? slash + 1 : target, pid);
    if (used >= 0 && (size_t)used < size) {
        snprintf(name + used, size - (size_t)used, attempt ? "-%d.tmp" : ".tmp", attempt);
    }
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

sx_status sxi_output_publish(const char *temporary, const char *target, bool overwrite) {
    int error = 0;
    if (overwrite) {
        error = rename(temporary, target) == 0 ? 0 : errno;
    } else {
        error = rename_new(temporary, target);
    }
    if (error) {
        unlink(temporary);
    }
    if (error == EEXIST) {
        return SXI_FAIL(SX_ERR_EXISTS,
                        "%s appeared while it was being written; it is kept, the new result is not",
                        target);
    }
    if (error) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be put in place: %s", target, strerror(error));
    }
    sync_folder(target);
    return SX_OK;
}

void sxi_output_abandoned(const char *path, long pid) {
    char *target = sxi_output_target(path);
    char name[PATH_MAX + NAME_MAX + 2];
    for (int i = 0; target && i < SXI_OUTPUT_ATTEMPTS; i++) {
        sxi_output_temporary(target, pid, i, name, sizeof name);
        unlink(name);
    }
    free(target);
}
