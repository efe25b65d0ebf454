/* SPDX-License-Identifier: Apache-2.0
 * The bands of a cube one after the other, the next one read while this one is worked on. */
#ifndef SXI_XANI_FIT_BANDS_H
#define SXI_XANI_FIT_BANDS_H

#include "xani/fit.h"

typedef struct sxi_fit_bands sxi_fit_bands;

/* sxi_fit_bands_open - plans the bands of a source.
 *
 * in   bytes  of a band as read, about; 0: chosen. Whole chunks all the same
 * out  bands  NULL on failure. source, frame and context must outlive it */
sx_status sxi_fit_bands_open(sxi_source *source, const sxi_fit_frame *frame,
                             const sx_context *context, int64_t bytes, sxi_fit_bands **bands);

/* sxi_fit_bands_next - the next band, read; rows is 0 after the last. The samples of the band before
 * are overwritten from now on, its fits from the next call on. */
sx_status sxi_fit_bands_next(sxi_fit_bands *bands, sxi_fit_band *band);

/* sxi_fit_bands_work - lends the calling thread to the reading of the band after this one. Any
 * thread, not while next runs. */
void sxi_fit_bands_work(sxi_fit_bands *bands);

/* sxi_fit_bands_left - whether another one follows. */
bool sxi_fit_bands_left(const sxi_fit_bands *bands);

/* sxi_fit_bands_pixels - of the largest band. */
int64_t sxi_fit_bands_pixels(const sxi_fit_bands *bands);

/* sxi_fit_bands_close - stops reading. NULL allowed. */
void sxi_fit_bands_close(sxi_fit_bands **bands);

#endif
