/* SPDX-License-Identifier: Apache-2.0
 * A pump-probe cube as the fit sees it, whatever file layout it came from:
 * y(t, row, x) = on / off - 1. */
#ifndef SXI_XANI_SOURCE_H
#define SXI_XANI_SOURCE_H

#include <sextant/xani.h>

#include <sextant/array.h>

typedef struct sxi_source sxi_source;

typedef struct sxi_source_info {
    char layout[64]; /* "sextant cube", "LCLS1 cube (jungfrau1M, ipm2)", "CSV trace", ... */
    int64_t nt;
    const double *delay_ps; /* [nt] increasing; owned by the source */
    double bin_width_ps;    /* width of a delay bin where the file says so; 0: unknown or unequal */
    const double *weight;   /* [nt] relative, shots per bin, where there is no sigma; NULL: 1 */
    int rank;               /* of the frame: 1 [N], 2 [H,W], 3 [S,H,W]; a single trace is [1] */
    int64_t shape[SX_MAX_RANK];
    int64_t rows, width; /* the frame as rows x width: [N] is N x 1, [S,H,W] is S*H x W */
    sx_dtype dtype;      /* SX_F32 or SX_F64: what read fills */
    bool has_sigma;
    int64_t chunk_rows; /* rows per stored chunk, 1 if not chunked */
    int inputs;         /* files read, for provenance */
    const char *const *paths;
} sxi_source_info;

/* sxi_source_open - recognises the layout, checks shapes, reads delays and the pooled off image.
 * Delays must be finite and increasing after scaling (a negative scale flips the axis and the
 * frames with it). */
sx_status sxi_source_open(const sx_xani_input *input, const sx_context *context,
                          sxi_source **source);
void sxi_source_close(sxi_source **source);

const sxi_source_info *sxi_source_describe(const sxi_source *source);

/* sxi_source_read - a band of rows row0 <= row < row0 + count.
 *
 * out  y      [nt][count][width]  info.dtype, rows without gaps; missing, masked, or of a bin
 *                                 without shots: NaN
 * out  sigma  same shape and type; NULL allowed, and needed only if has_sigma
 * out  mask   [count][width]  U8, 0 good */
sx_status sxi_source_read(sxi_source *source, int64_t row0, int64_t count, sx_array *y,
                          sx_array *sigma, sx_array *mask);

/* The same in the background. */
typedef struct sxi_source_request sxi_source_request;

/* sxi_source_start - begins to read a band with at most so many threads of its own; 0: none, so
 * that only those of the caller work. Source and memory of the arrays must stay until wait or
 * cancel. *request is NULL on failure. */
sx_status sxi_source_start(sxi_source *source, int threads, int64_t row0, int64_t count,
                           const sx_array *y, const sx_array *sigma, const sx_array *mask,
                           sxi_source_request **request);

/* sxi_source_work - lends the calling thread, until no work is left to take. Any thread. */
void sxi_source_work(sxi_source_request *request);

/* sxi_source_wait - works, waits for the others, makes NaN of what is missing, and frees the
 * request: *request is NULL afterwards. */
sx_status sxi_source_wait(sxi_source_request **request);

/* sxi_source_cancel - the band is not wanted any more; the arrays hold anything. NULL allowed. */
void sxi_source_cancel(sxi_source_request **request);

#endif
