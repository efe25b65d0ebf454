/* SPDX-License-Identifier: Apache-2.0
 * Streams of random numbers, so that no two purposes share one. */
#ifndef SXI_XANI_STREAMS_H
#define SXI_XANI_STREAMS_H

enum {
    SXI_STREAM_INTENSITY = 32,
    SXI_STREAM_DROP,
    SXI_STREAM_JITTER,
    SXI_STREAM_TOOL,
    SXI_STREAM_TOOL_LIGHT,
    SXI_STREAM_DEAD_PIXEL,
    SXI_STREAM_COMMON_MODE,
    SXI_STREAM_NOISE,
    SXI_STREAM_PHOTONS, /* and the next */
    SXI_STREAM_END = SXI_STREAM_PHOTONS + 2
};

#endif
