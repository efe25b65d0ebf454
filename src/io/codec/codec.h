/* SPDX-License-Identifier: Apache-2.0
 * The filters of HDF5 backwards: from stored bytes to values. Plain bytes in, plain bytes out; any
 * input whatever is safe. */
#ifndef SXI_CODEC_H
#define SXI_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sextant/status.h>

enum { SXI_CODEC_STEPS = 8, SXI_CODEC_VALUES = 8 };

/* One filter of a pipeline: its registered number and what the file says of it. */
typedef struct sxi_codec_step {
    unsigned filter;
    int values;
    unsigned value[SXI_CODEC_VALUES];
} sxi_codec_step;

/* A pipeline in the order of writing. */
typedef struct sxi_codec {
    int steps;
    sxi_codec_step step[SXI_CODEC_STEPS];
    size_t element; /* bytes of an element as stored */
    size_t chunk;   /* bytes of a chunk of values */
} sxi_codec;

/* sxi_codec_name - "gzip", "bitshuffle", ... of any registered filter; NULL for one unknown here. */
const char *sxi_codec_name(unsigned filter);

/* sxi_codec_at - number of the i-th filter that is decoded here; 0 after the last. */
unsigned sxi_codec_at(int i);

/* sxi_codec_known - whether this step (filter and values) is decoded here. */
bool sxi_codec_known(const sxi_codec_step *step);

/* sxi_codec_scratch - bytes of each of the two buffers that decode needs; 0 where the pipeline is
 * empty. At most a chunk and its eighth and 64 KiB. */
size_t sxi_codec_scratch(const sxi_codec *codec);

/* What a thread keeps from chunk to chunk (decompressors). */
typedef struct sxi_codec_state sxi_codec_state;
sx_status sxi_codec_state_create(sxi_codec_state **state);
void sxi_codec_state_destroy(sxi_codec_state **state);

/* sxi_codec_decode - undoes the pipeline for one chunk.
 *
 * in      skip     bit i: step i was not applied to this chunk (HDF5's filter mask)
 * in,out  stored   [bytes] as in the file; lies in buffer[0], which is overwritten
 * in,out  buffer   two of sxi_codec_scratch bytes; 64-byte aligned. buffer[0] is at least `bytes`
 *                  long (which may be more than that where stored bytes outgrew the chunk)
 * in      target   NULL, or codec->chunk bytes where the values should best end up
 * out     values   where they did: target if given, else one of the buffers
 *
 * SX_ERR_FORMAT with a sentence (filter, what was found, what was expected) where the bytes do not
 * decode to exactly codec->chunk bytes or a checksum fails. Threads: yes, on distinct state and
 * buffers. Source: the layouts are described in docs/theory/hdf5.md. */
sx_status sxi_codec_decode(const sxi_codec *codec, unsigned skip, size_t bytes,
                           unsigned char *const buffer[2], unsigned char *target,
                           sxi_codec_state *state, const unsigned char **values);

#endif
