/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdeflate.h>

#include "base/fail.h"
#include "base/output.h"
#include "report/assets.h"

struct sxi_page {
    char *path;
    char temporary[PATH_MAX + NAME_MAX + 2];
    bool overwrite;
    FILE *stream;
    int error; /* errno of the first write that failed */
};

static void page_free(sxi_page *page) {
    if (page->stream) {
        fclose(page->stream);
    }
    free(page->path);
    free(page);
}

/* --- writing --- */

static void put(sxi_page *page, const char *bytes, size_t size) {
    if (!page->error && fwrite(bytes, 1, size, page->stream) != size) {
        page->error = errno ? errno : EIO;
    }
}

static void put_text(sxi_page *page, const char *text) { put(page, text, strlen(text)); }

static sx_status open_temporary(sxi_page *page) {
    int file = -1;
    for (int i = 0; file < 0 && i < SXI_OUTPUT_ATTEMPTS; i++) {
        sxi_output_temporary(page->path, (long)getpid(), i, page->temporary,
                             sizeof page->temporary);
        file = open(page->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST) {
            break;
        }
    }
    page->stream = file < 0 ? NULL : fdopen(file, "w");
    if (page->stream) {
        return SX_OK;
    }
    const int reason = errno;
    if (file >= 0) {
        close(file);
        unlink(page->temporary);
    }
    return SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", page->path, strerror(reason));
}

sx_status sxi_page_create(const char *output, bool overwrite, int files, const char *const *paths,
                          sxi_page **page) {
    *page = NULL;
    SXI_TRY(sxi_output_check(output, overwrite, files, paths));
    sxi_page *made = calloc(1, sizeof *made);
    if (!made || !(made->path = sxi_output_target(output))) {
        free(made);
        return SXI_FAIL(SX_ERR_MEMORY, "%s: no memory to write it", output);
    }
    made->overwrite = overwrite;
    const sx_status status = open_temporary(made);
    if (status != SX_OK) {
        page_free(made);
        return status;
    }
    put_text(made, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width\">\n"
                   "<title>Sextant report</title>\n<style>\n");
    put(made, sxi_report_css, sxi_report_css_size);
    put_text(made,
             "</style>\n</head>\n<body>\n<header></header>\n<main><noscript>This report draws "
             "itself with JavaScript, which is switched off.</noscript></main>\n");
    *page = made;
    return SX_OK;
}

/* --- blocks --- */

/* Byte b of all numbers, then byte b + 1. */
static void sort_bytes(size_t size, size_t count, const unsigned char *data,
                       unsigned char *sorted) {
    for (size_t b = 0; b < size; b++) {
        for (size_t i = 0; i < count; i++) {
            sorted[b * count + i] = data[i * size + b];
        }
    }
}

static void put_base64(sxi_page *page, const unsigned char *bytes, size_t size) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { THREES = 1024 };
    char text[4 * THREES];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned a = bytes[i], b = i + 1 < size ? bytes[i + 1] : 0;
        const unsigned c = i + 2 < size ? bytes[i + 2] : 0, all = a << 16 | b << 8 | c;
        text[used++] = letters[all >> 18];
        text[used++] = letters[all >> 12 & 63];
        text[used++] = i + 1 < size ? letters[all >> 6 & 63] : '=';
        text[used++] = i + 2 < size ? letters[all & 63] : '=';
        if (used == sizeof text) {
            put(page, text, used);
            used = 0;
        }
    }
    put(page, text, used);
}

sx_status sxi_page_block(sxi_page *page, const char *name, sx_dtype dtype, int64_t count,
                         const void *data) {
    enum { LEVEL = 6 };
    const size_t size = sx_dtype_size(dtype), bytes = (size_t)count * size;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
    const size_t most = compressor ? libdeflate_zlib_compress_bound(compressor, bytes) : 0;
    unsigned char *sorted = malloc(bytes + 1), *packed = malloc(most + 1);
    sx_status status = SX_OK;
    if (!compressor || !sorted || !packed) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to pack %lld numbers", (long long)count);
        goto out;
    }
    sort_bytes(size, (size_t)count, data, sorted);
    const size_t used = libdeflate_zlib_compress(compressor, sorted, bytes, packed, most);
    char head[256];
    snprintf(head, sizeof head,
             "<script type=\"text/plain\" id=\"block-%s\" data-type=\"%s\" data-count=\"%lld\">",
             name, sx_dtype_name(dtype), (long long)count);
    put_text(page, head);
    put_base64(page, packed, used);
    put_text(page, "</script>\n");
out:
    free(sorted);
    free(packed);
    libdeflate_free_compressor(compressor);
    return status;
}

/* --- the end --- */

json_t *sxi_page_text(const char *text) {
    json_t *value = json_string(text);
    char *plain = value ? NULL : strdup(text);
    for (char *c = plain; c && *c; c++) {
        *c = (unsigned char)*c < 128 ? *c : '?';
    }
    value = plain ? json_string(plain) : value;
    free(plain);
    return value;
}

/* Inside of a script element no text may look like its end: '<' as JSON also writes it. */
static void put_json(sxi_page *page, const char *json) {
    for (const char *next = json; *next;) {
        const size_t plain = strcspn(next, "<");
        put(page, next, plain);
        next += plain;
        if (*next) {
            put_text(page, "\\u003c");
            next++;
        }
    }
}

static sx_status put_end(sxi_page *page, const json_t *description) {
    char *json = json_dumps(description, JSON_ENSURE_ASCII | JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (!json) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the description of a report");
    }
    put_text(page, "<script type=\"application/json\" id=\"description\">");
    put_json(page, json);
    put_text(page, "</script>\n<script>\n");
    put(page, sxi_report_js, sxi_report_js_size);
    put_text(page, "</script>\n</body>\n</html>\n");
    free(json);
    if (!page->error && (fflush(page->stream) != 0 || fsync(fileno(page->stream)) != 0)) {
        page->error = errno;
    }
    return page->error
               ? SXI_FAIL(SX_ERR_IO, "%s cannot be written: %s", page->path, strerror(page->error))
               : SX_OK;
}

sx_status sxi_page_commit(sxi_page **page, const json_t *description) {
    sxi_page *done = *page;
    sx_status status = put_end(done, description);
    if (status == SX_OK) {
        status = sxi_output_publish(done->temporary, done->path, done->overwrite);
        page_free(done);
        *page = NULL;
    } else {
        sxi_page_abandon(page);
    }
    return status;
}

void sxi_page_abandon(sxi_page **page) {
    if (*page) {
        unlink((*page)->temporary);
        page_free(*page);
        *page = NULL;
    }
}
