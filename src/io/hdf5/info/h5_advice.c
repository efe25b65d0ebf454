/* SPDX-License-Identifier: Apache-2.0 */
#include "io/hdf5/info/h5_advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const double MB = 1e6;

enum {
    WORTH = 16 << 20,       /* bytes of a dataset; less is read in no time */
    SMALL = 16 << 10,       /* bytes of a chunk: finding one takes as long as reading it */
    MANY = 4096,            /* of such chunks */
    LARGE = 64 << 20,       /* bytes of a filtered chunk, which one thread decodes */
    GOOD = 1 << 20,         /* bytes of a chunk that suits threads, caches and disks */
    RUN = 512,              /* bytes that lie together; less wastes most of each read */
    SERIES = 16,            /* frames from which on one speaks of a trace */
    FRAME = 64,             /* elements from which on one speaks of a frame */
    FRAMES_OF_A_CHUNK = 32, /* first try */
    PARTS = 8
};

/* Sizes in double: extents of damaged files multiply to anything. */
typedef struct sizes {
    double all, chunk, frame; /* bytes */
    double chunks, along;     /* number of chunks, and of those along the first axis */
} sizes;

static double chunks_of(const sx_hdf5_dataset *about, int d) {
    const int64_t chunks = (about->shape[d] - 1) / about->chunk[d] + 1;
    return (double)chunks;
}

static bool measure(const sx_hdf5_dataset *about, sizes *s) {
    const double element = (double)about->element_bytes;
    *s = (sizes){element, element, element, 1, 1};
    for (int d = 0; d < about->rank; d++) {
        if (about->shape[d] < 1 || about->chunk[d] < 1) {
            return false;
        }
        s->all *= (double)about->shape[d];
        s->chunk *= (double)about->chunk[d];
        s->frame *= d > 0 ? (double)about->shape[d] : 1;
        s->chunks *= chunks_of(about, d);
        s->along = d == 0 ? s->chunks : s->along;
    }
    return about->layout == SX_HDF5_CHUNKED && s->all >= WORTH;
}

static double bytes_of(const sx_hdf5_dataset *about, const int64_t *chunk) {
    double bytes = (double)about->element_bytes;
    for (int d = 0; d < about->rank; d++) {
        bytes *= (double)chunk[d];
    }
    return bytes;
}

/* Halves the longest of the axes from `first` on until the chunk has at most that many bytes. */
static void shrink(const sx_hdf5_dataset *about, int first, double most, int64_t *chunk) {
    while (bytes_of(about, chunk) > most) {
        int longest = first;
        for (int d = first; d < about->rank; d++) {
            longest = chunk[d] > chunk[longest] ? d : longest;
        }
        if (chunk[longest] == 1) {
            return;
        }
        chunk[longest] -= chunk[longest] / 2;
    }
}

/* Between the two: an eighth of the frames at most, and of each an eighth, so that neither a trace
 * nor a frame decodes more than that of all. */
static void balance(const sx_hdf5_dataset *about, int64_t *chunk) {
    const int64_t frames = about->shape[0] / PARTS; /* at least SERIES / PARTS */
    memcpy(chunk, about->shape, sizeof about->shape);
    chunk[0] = frames < FRAMES_OF_A_CHUNK ? frames : FRAMES_OF_A_CHUNK;
    const double part = bytes_of(about, chunk) / PARTS;
    shrink(about, 1, part < GOOD ? part : GOOD, chunk);
    while (2 * chunk[0] <= frames && 2 * bytes_of(about, chunk) <= GOOD) {
        chunk[0] *= 2;
    }
}

/* Doubles the last axis, then those before it, until the chunk is of good size. */
static void enlarge(const sx_hdf5_dataset *about, int64_t *chunk) {
    for (int d = about->rank - 1; d >= 0; d--) {
        while (chunk[d] < about->shape[d] && 2 * bytes_of(about, chunk) <= GOOD) {
            chunk[d] = 2 * chunk[d] < about->shape[d] ? 2 * chunk[d] : about->shape[d];
        }
    }
}

/* Room in text for one more line. */
typedef struct lines {
    char *text;
    size_t size, used;
} lines;

#define ADD(to, ...)                                                                               \
    do {                                                                                           \
        const int n_ = snprintf((to)->text + (to)->used, (to)->size - (to)->used, __VA_ARGS__);    \
        (to)->used +=                                                                              \
            (size_t)n_ < (to)->size - (to)->used ? (size_t)n_ : (to)->size - 1 - (to)->used;       \
    } while (0)

/* A command that a shell takes as it is meant. */
static void add_command(const char *path, const char *name, const sx_hdf5_dataset *about,
                        const int64_t *chunk, lines *to) {
    if (strpbrk(path, "'\n") || strpbrk(name, "'\n:")) {
        return;
    }
    ADD(to, "h5repack -l '%s:CHUNK=", name);
    for (int d = 0; d < about->rank; d++) {
        ADD(to, "%s%lld", d ? "x" : "", (long long)chunk[d]);
    }
    ADD(to, "' '%s' NEW.h5\n", path);
}

/* Traces and frames of a stack of images. */
static void judge_stack(const sx_hdf5_dataset *about, const sizes *s, lines *to) {
    const bool filtered = about->filters[0] != '\0';
    const double frames = (double)about->shape[0];
    const double deep =
        (double)(about->chunk[0] < about->shape[0] ? about->chunk[0] : about->shape[0]);
    const double run = (double)about->chunk[about->rank - 1] * (double)about->element_bytes;
    if (filtered && s->along * s->chunk >= s->all / 4) {
        ADD(to, "slow for traces: one pixel through all %.0f frames decodes %.0f of %.0f MB\n",
            frames, s->along * s->chunk / MB, s->all / MB);
    }
    if (filtered && deep >= frames / 4) {
        ADD(to, "slow for frames: one of them decodes %.0f of %.0f MB\n", deep * s->frame / MB,
            s->all / MB);
    } else if (deep >= frames / 4 && run < RUN &&
               about->chunk[about->rank - 1] < about->shape[about->rank - 1]) {
        ADD(to, "slow for frames: one of them lies in %.0f runs of %.0f bytes\n", s->frame / run,
            run);
    }
}

void sxi_h5_advice(const char *path, const char *name, const sx_hdf5_dataset *about, char *text,
                   size_t size) {
    lines to = {text, size, 0};
    sizes s;
    int64_t chunk[SX_MAX_RANK] = {0};
    text[0] = '\0';
    if (!measure(about, &s)) {
        return;
    }
    for (int d = 0; d < about->rank; d++) {
        chunk[d] = about->chunk[d] < about->shape[d] ? about->chunk[d] : about->shape[d];
    }
    const bool stack = about->rank >= 3 && about->shape[0] >= SERIES &&
                       s.frame >= FRAME * (double)about->element_bytes;
    const bool small = s.chunk < SMALL && s.chunks >= MANY;
    const bool large = s.chunk > LARGE && about->filters[0];
    if (stack) {
        judge_stack(about, &s, &to);
    }
    if (small) {
        ADD(&to,
            "slow altogether: %.0f chunks of %.0f bytes; finding one takes as long as reading it\n",
            s.chunks, s.chunk);
        enlarge(about, chunk);
    }
    if (large) {
        ADD(&to, "slow altogether: chunks of %.0f MB, each decoded by one thread\n", s.chunk / MB);
        shrink(about, 0, GOOD, chunk);
    }
    if (to.used > 0) {
        if (stack) {
            balance(about, chunk);
        }
        add_command(path, name, about, chunk, &to);
    }
}
