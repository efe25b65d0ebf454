/* SPDX-License-Identifier: Apache-2.0
 * Photons that pixels count: exact Poisson numbers, some nanoseconds each while means are small.
 *
 * The mean of a pixel is cut into a whole number of 1/64 and a rest. For the first there are tables: ten
 * random bits choose a cell of the distribution, which nearly always lies within one count. 22 further
 * bits tell whether the rest, less than 1/64, may add something. Of means of 16 and more whole photons
 * are drawn from tables of their own, and the rest as before. The rare others are drawn afresh. */
#ifndef SXI_PHOTONS_H
#define SXI_PHOTONS_H

#include <stdint.h>

#include <sextant/status.h>

typedef struct sxi_photons sxi_photons; /* tables; any thread may read them */

sx_status sxi_photons_create(sxi_photons **photons);
void sxi_photons_destroy(sxi_photons **photons);

/* sxi_photons_draw - one frame.
 *
 * in   key, stream  as of base/rng.h; stream + 1 is used as well
 * in   frame        which frame of the series, its pixels being the same in each
 * in   mean    [n]  photons at intensity 1; not finite: 0
 * in   intensity    of the pulse
 * out  count   [n]  at most 65535
 *
 * A number depends on key, stream, frame, n, place and mean * intensity alone. Threads: yes. */
void sxi_photons_draw(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t frame,
                      int64_t n, const float *mean, float intensity, uint16_t *count);

/* --- for tests: variants of the inner loop --- */

/* A block is 32 pixels: word w of counter 8 b + lane belongs to pixel 32 b + 8 w + lane. */
enum { SXI_PHOTONS_BLOCK = 32 };

typedef struct sxi_photons_variant {
    const char *name;
    void (*blocks)(const sxi_photons *photons, uint64_t key, uint32_t stream, uint64_t first,
                   int64_t blocks, const float *mean, float intensity, uint16_t *count);
} sxi_photons_variant;

/* sxi_photons_variant_get - number 0 is plain C; NULL beyond those that this machine can run. */
const sxi_photons_variant *sxi_photons_variant_get(int number);

#endif
