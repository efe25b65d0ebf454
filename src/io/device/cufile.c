/* SPDX-License-Identifier: Apache-2.0
 * Compiled, not run: no GPU has run this yet.
 *
 * The few declarations that are needed of cuFile are ours, so that its header need not be there to
 * build. Source: the API reference of NVIDIA GPUDirect Storage, release 1.9. Target memory is not
 * registered: cuFile then copies once more, on the GPU, which costs less than pinning every array
 * that comes along; a caller may register his own. */
#define _GNU_SOURCE /* O_DIRECT; NOLINT(cert-dcl37-c,cert-dcl51-cpp): the name is glibc's */
#include "io/device/cufile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/load.h"

enum {
    HANDLES = 64, /* files that stay registered although nobody reads them */
    OPAQUE_FD = 1 /* of descriptor.type */
};

typedef struct result {
    int cufile; /* 0: done */
    int cuda;
} result;

typedef struct descriptor {
    int type;
    union {
        int fd;
        void *other;
    } handle;
    const void *operations; /* of file systems in user space */
} descriptor;

/* A file that was seen. It is known by its inode, which is its own while fd is open: numbers of
 * descriptors come again. */
typedef struct handle {
    struct handle *next; /* the one last used comes first */
    dev_t device;
    ino_t inode;
    int fd;
    void *registered; /* NULL: cuFile does not want it */
    int users;
} handle;

struct sxi_cufile {
    result (*driver_open)(void);
    result (*handle_register)(void **, descriptor *);
    void (*handle_deregister)(void *);
    ssize_t (*read)(void *, void *, size_t, off_t, off_t);
    pthread_mutex_t mutex; /* guards handles */
    handle *handles;
};

static sx_status load(sxi_cufile *files) {
    void *library = dlopen("libcufile.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "no cuFile (libcufile.so.0)");
    }
    if (!SXI_LOAD(library, "cuFileDriverOpen", files->driver_open) ||
        !SXI_LOAD(library, "cuFileHandleRegister", files->handle_register) ||
        !SXI_LOAD(library, "cuFileHandleDeregister", files->handle_deregister) ||
        !SXI_LOAD(library, "cuFileRead", files->read)) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED, "a cuFile (libcufile.so.0) of another version");
    }
    /* Neither library nor driver is closed in the end: others of this process may use them. */
    const result opened = files->driver_open();
    return opened.cufile == 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_UNSUPPORTED, "cuFile does not start: error %d, CUDA error %d",
                          opened.cufile, opened.cuda);
}

sx_status sxi_cufile_open(sxi_cufile **files) {
    *files = NULL;
    sxi_cufile *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for cuFile");
    }
    const sx_status status = load(opened);
    if (status != SX_OK) {
        free(opened);
        return status;
    }
    pthread_mutex_init(&opened->mutex, NULL);
    *files = opened;
    return SX_OK;
}

static void handle_destroy(const sxi_cufile *files, handle *gone) {
    if (gone->registered) {
        files->handle_deregister(gone->registered);
    }
    close(gone->fd);
    free(gone);
}

void sxi_cufile_close(sxi_cufile **files) {
    sxi_cufile *closed = *files;
    if (!closed) {
        return;
    }
    while (closed->handles) {
        handle *next = closed->handles->next;
        handle_destroy(closed, closed->handles);
        closed->handles = next;
    }
    pthread_mutex_destroy(&closed->mutex);
    free(closed);
    *files = NULL;
}

/* The file of fd opened anew, past the page cache if its file system can do that; else it is left
 * to cuFile whether it can. */
static int open_again(int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int direct = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
    return direct >= 0 ? direct : open(path, O_RDONLY | O_CLOEXEC);
}

static handle *handle_create(const sxi_cufile *files, int fd, const struct stat *about) {
    handle *made = calloc(1, sizeof *made);
    if (!made) {
        return NULL;
    }
    made->device = about->st_dev;
    made->inode = about->st_ino;
    made->fd = open_again(fd);
    if (made->fd < 0) {
        free(made);
        return NULL;
    }
    descriptor file = {.type = OPAQUE_FD, .handle = {.fd = made->fd}};
    if (files->handle_register(&made->registered, &file).cufile != 0) {
        made->registered = NULL;
    }
    return made;
}

/* Forgets the file that was not read for longest, if there are many. */
static void drop_one(sxi_cufile *files) {
    handle **last = NULL;
    int count = 0;
    for (handle **at = &files->handles; *at; at = &(*at)->next, count++) {
        last = (*at)->users == 0 ? at : last;
    }
    if (count >= HANDLES && last) {
        handle *gone = *last;
        *last = gone->next;
        handle_destroy(files, gone);
    }
}

/* The handle of a file, registered if need be; NULL if it cannot be. */
static handle *handle_take(sxi_cufile *files, int fd) {
    struct stat about;
    if (fstat(fd, &about) != 0) {
        return NULL;
    }
    pthread_mutex_lock(&files->mutex);
    handle **at = &files->handles;
    while (*at && ((*at)->inode != about.st_ino || (*at)->device != about.st_dev)) {
        at = &(*at)->next;
    }
    handle *taken = *at;
    if (taken) {
        *at = taken->next;
    } else {
        drop_one(files);
        taken = handle_create(files, fd, &about);
    }
    if (taken) {
        taken->next = files->handles;
        files->handles = taken;
        taken->users++;
    }
    pthread_mutex_unlock(&files->mutex);
    return taken;
}

static void handle_give_back(sxi_cufile *files, handle *taken) {
    pthread_mutex_lock(&files->mutex);
    taken->users--;
    pthread_mutex_unlock(&files->mutex);
}

int64_t sxi_cufile_read(sxi_cufile *files, int fd, int64_t offset, void *target, int64_t bytes) {
    handle *taken = handle_take(files, fd);
    if (!taken) {
        return -1;
    }
    const ssize_t got =
        taken->registered ? files->read(taken->registered, target, (size_t)bytes, (off_t)offset, 0)
                          : -1;
    handle_give_back(files, taken);
    return (int64_t)got;
}
