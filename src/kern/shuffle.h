/* SPDX-License-Identifier: Apache-2.0
 * Bytes and bits of elements back in order, after compressors had them sorted by significance. */
#ifndef SXI_SHUFFLE_H
#define SXI_SHUFFLE_H

#include <stddef.h>

/* One way to do it; all ways give the same bytes. */
typedef struct sxi_shuffle {
    const char *name;

    /* Interleaves planes: target[i * stride + j] = plane[j * pitch + i], i < count, j < planes.
     * planes <= stride: other bytes of target stay. */
    void (*bytes)(const unsigned char *plane, size_t pitch, size_t count, size_t planes,
                  unsigned char *target, size_t stride);

    /* Eight rows of bits to one of bytes: bit k of plane[8 * i + b] = bit b of row[k * pitch + i],
     * i < count, b and k < 8. */
    void (*bits)(const unsigned char *row, size_t pitch, size_t count, unsigned char *plane);
} sxi_shuffle;

/* sxi_shuffle_variant - number 0 is plain C; NULL from the first number on that is none. What this
 * machine cannot run is left out, and later is faster. */
const sxi_shuffle *sxi_shuffle_variant(int number);

/* sxi_shuffle_best - the last of them. */
const sxi_shuffle *sxi_shuffle_best(void);

#endif
