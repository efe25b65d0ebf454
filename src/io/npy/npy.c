/* SPDX-License-Identifier: Apache-2.0
 * Source of the format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "io/npy/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/output.h"

/* The values lie in the file as in memory. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the values would need their bytes swapped");

enum {
    HEADER = 384,  /* the longest, of SXI_NPY_RANK axes of 19 digits, has 256 */
    ALIGN = 64,    /* of the values */
    PREFIX = 10,   /* magic, version, length */
    MOST = 1 << 30 /* bytes of one write(); Linux takes 0x7ffff000 at most */
};

struct sxi_npy {
    char *target;
    char *temporary;
    bool overwrite;
    int fd;
};

static const char *descr(sx_dtype dtype) {
    switch (dtype) {
    case SX_I8:
        return "|i1";
    case SX_U8:
        return "|u1";
    case SX_I16:
        return "<i2";
    case SX_U16:
        return "<u2";
    case SX_I32:
        return "<i4";
    case SX_U32:
        return "<u4";
    case SX_I64:
        return "<i8";
    case SX_U64:
        return "<u8";
    case SX_F32:
        return "<f4";
    case SX_F64:
        return "<f8";
    }
    return "";
}

/* Magic, version 1.0, length, and a Python dict padded with blanks to the alignment. Returns its
 * bytes. */
static size_t make_header(char text[HEADER], sx_dtype dtype, int rank, const int64_t *shape) {
    int n = PREFIX + snprintf(text + PREFIX, HEADER - PREFIX,
                              "{'descr': '%s', 'fortran_order': False, 'shape': (", descr(dtype));
    for (int d = 0; d < rank; d++) {
        n += snprintf(text + n, (size_t)(HEADER - n), "%s%" PRId64, d ? ", " : "", shape[d]);
    }
    n += snprintf(text + n, (size_t)(HEADER - n), "%s), }", rank == 1 ? "," : "");
    while ((n + 1) % ALIGN != 0) {
        text[n++] = ' ';
    }
    text[n++] = '\n';
    const unsigned length = (unsigned)n - PREFIX;
    memcpy(text, "\x93NUMPY\x01\x00", 8);
    text[8] = (char)(length & 0xff);
    text[9] = (char)(length >> 8);
    return (size_t)n;
}

static sx_status open_temporary(sxi_npy *npy, const char *path) {
    char name[PATH_MAX + NAME_MAX + 2];
    errno = EEXIST;
    for (int i = 0; npy->fd < 0 && errno == EEXIST && i < SXI_OUTPUT_ATTEMPTS; i++) {
        sxi_output_temporary(npy->target, (long)getpid(), i, name, sizeof name);
        npy->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (npy->fd < 0) {
        return SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", path, strerror(errno));
    }
    npy->temporary = strdup(name);
    if (!npy->temporary) {
        unlink(name);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", path);
    }
    return SX_OK;
}

sx_status sxi_npy_create(const char *path, bool overwrite, sx_dtype dtype, int rank,
                         const int64_t *shape, sxi_npy **npy) {
    sx_status status = SX_OK;
    char header[HEADER];
    *npy = NULL;
    SXI_TRY(sxi_output_check(path, overwrite, 0, NULL));
    sxi_npy *created = calloc(1, sizeof *created);
    if (!created) {
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", path);
    }
    *created = (sxi_npy){.target = sxi_output_target(path), .overwrite = overwrite, .fd = -1};
    if (!created->target) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", path);
        goto out;
    }
    SXI_GO(open_temporary(created, path));
    SXI_GO(sxi_npy_append(created, header, make_header(header, dtype, rank, shape)));
out:
    if (status != SX_OK) {
        sxi_npy_abandon(&created);
    }
    *npy = created;
    return status;
}

sx_status sxi_npy_append(sxi_npy *npy, const void *values, size_t bytes) {
    const char *from = values;
    while (bytes > 0) {
        const ssize_t n = write(npy->fd, from, bytes < MOST ? bytes : MOST);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", npy->target,
                            n < 0 ? strerror(errno) : "no room");
        }
        from += n;
        bytes -= (size_t)n;
    }
    return SX_OK;
}

static void npy_free(sxi_npy *npy) {
    free(npy->target);
    free(npy->temporary);
    free(npy);
}

sx_status sxi_npy_commit(sxi_npy **npy) {
    sxi_npy *done = *npy;
    *npy = NULL;
    sx_status status = SX_OK;
    const int synced = fsync(done->fd) == 0 ? 0 : errno;
    const int closed = close(done->fd) == 0 ? 0 : errno;
    if (synced || closed) {
        unlink(done->temporary);
        status = SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", done->target,
                          strerror(synced ? synced : closed));
    } else {
        status = sxi_output_publish(done->temporary, done->target, done->overwrite);
    }
    npy_free(done);
    return status;
}

void sxi_npy_abandon(sxi_npy **npy) {
    if (!*npy) {
        return;
    }
    if ((*npy)->fd >= 0) {
        close((*npy)->fd);
    }
    if ((*npy)->temporary) {
        unlink((*npy)->temporary);
    }
    npy_free(*npy);
    *npy = NULL;
}
