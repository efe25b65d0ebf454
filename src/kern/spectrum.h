/* SPDX-License-Identifier: Apache-2.0
 * Spectra of real traces, lanes = traces, and what a damped cosine at each frequency would gain.
 *
 * A block holds one sample of all lanes after another, [n][SXI_SPECTRUM_WIDTH]. Blocks, data, gains
 * and masks are aligned to 64 bytes. No product is fused and lanes never meet, so a trace gives the
 * same bits in any lane, beside any neighbours and on any machine. */
#ifndef SXI_SPECTRUM_KERNEL_H
#define SXI_SPECTRUM_KERNEL_H

#include <stdint.h>

enum {
    SXI_SPECTRUM_WIDTH = 16, /* traces of a block */
    SXI_SPECTRUM_LEAST = 3,  /* the shortest transform */
    SXI_SPECTRUM_CROWD = 8
};

/* A complex transform of `length` points: 3, 4, 6 or 8 times a power of 4. */
typedef struct sxi_spectrum_plan {
    int64_t length;
    float *twiddle; /* [sxi_spectrum_twiddles(length)] */
    int32_t *place; /* [length]  where the transform leaves point k */
    float *turn;    /* [length / 2 + 1][2]  cos and sin of pi k / length */
} sxi_spectrum_plan;

/* sxi_spectrum_length - the smallest length that is not less than `least`. */
int64_t sxi_spectrum_length(int64_t least);

/* sxi_spectrum_twiddles - floats of plan->twiddle.
 * sxi_spectrum_plan_fill - fills the three tables of a plan whose length and pointers are set. */
int64_t sxi_spectrum_twiddles(int64_t length);
void sxi_spectrum_plan_fill(sxi_spectrum_plan *plan);

/* The kernels of one instruction set. */
typedef struct sxi_spectrum_kernels {
    const char *name; /* c, avx2, avx512 */

    /* Rows of n samples become a block. */
    void (*block)(int64_t n, const float *const row[SXI_SPECTRUM_WIDTH], float *block);

    /* The transform of samples times weight, taken as complex numbers (sample 2 i + sqrt(-1) sample
     * 2 i + 1), with zeros behind them; number i of very many is added to number i modulo length,
     * which is exact at the frequencies that are left. Point k comes to plan->place[k].
     *
     * in   n       even
     * in   weight  [n]
     * in   block   [n][SXI_SPECTRUM_WIDTH]
     * out  data    [2 length][SXI_SPECTRUM_WIDTH] */
    void (*transform)(const sxi_spectrum_plan *plan, int64_t n, const float *weight,
                      const float *block, float *data);

    /* The quadratic form of each bin of the real spectrum behind a transform. With
     * X = re + sqrt(-1) im = 2 sum_i y_i exp(-sqrt(-1) pi k i / length):
     *
     *   gain = form[k][0] re^2 + form[k][1] re im + form[k][2] im^2,   k = 0 .. top <= length
     *
     * in   form  [top + 1][3]
     * out  gain  [top + 1][SXI_SPECTRUM_WIDTH] */
    void (*gain)(const sxi_spectrum_plan *plan, int64_t top, const float *form, const float *data,
                 float *gain);

    /* The bins themselves: X as above.
     *
     * out  out  [top + 1][2][SXI_SPECTRUM_WIDTH]  re, im */
    void (*bins)(const sxi_spectrum_plan *plan, int64_t top, const float *data, float *out);

    /* Gains where every trace has weights w of its own, with y = w residual: of
     *
     *   signal  bins of y exp(-g x)
     *   linear  bins of w exp(-g x)
     *   square  bins of w exp(-2 g x)
     *
     * of which bin 2 k tells the squares of bin k's cosine and sine.
     *
     * in   signal, linear  [top + 1][2][SXI_SPECTRUM_WIDTH]
     * in   square          [length + 1][2][SXI_SPECTRUM_WIDTH]
     * in   over            [SXI_SPECTRUM_WIDTH]  1 / sum of w; 0: no constant is fitted along
     * out  gain            [top + 1][SXI_SPECTRUM_WIDTH] */
    void (*own_gain)(int64_t length, int64_t top, const float *signal, const float *linear,
                     const float *square, const float over[SXI_SPECTRUM_WIDTH], float *gain);

    /* Raises most to the largest gain of bins first .. last; NaN is passed over.
     *
     * in      gain  [last + 1][SXI_SPECTRUM_WIDTH]
     * in,out  most  [SXI_SPECTRUM_WIDTH]  at least 0 */
    void (*most)(int64_t first, int64_t last, const float *gain, float most[SXI_SPECTRUM_WIDTH]);

    /* Raises least to what SXI_SPECTRUM_CROWD of 16 equal stretches of bins first .. last reach, so
     * that of very many peaks about as many are left.
     *
     * in      gain   [last + 1][SXI_SPECTRUM_WIDTH]
     * in,out  least  [SXI_SPECTRUM_WIDTH] */
    void (*crowd)(int64_t first, int64_t last, const float *gain, float least[SXI_SPECTRUM_WIDTH]);

    /* Bit i % 32 of mask[i / 32][lane] says that bin first + i is higher than the one before, not
     * lower than the next and at least `least`. Bins beyond first and last count as 0. Lanes with
     * NaN may give any bits.
     *
     * in   gain   [last + 1][SXI_SPECTRUM_WIDTH]
     * in   least  [SXI_SPECTRUM_WIDTH]
     * out  mask   [(last - first) / 32 + 1][SXI_SPECTRUM_WIDTH] */
    void (*peaks)(int64_t first, int64_t last, const float *gain,
                  const float least[SXI_SPECTRUM_WIDTH], uint32_t *mask);
} sxi_spectrum_kernels;

/* sxi_spectrum_kernels_variant - number 0 is plain C; NULL from the first number on that is none.
 * What this machine cannot run is left out, and later is faster. All give the same bits.
 * sxi_spectrum_kernels_best - the last of them. */
const sxi_spectrum_kernels *sxi_spectrum_kernels_variant(int number);
const sxi_spectrum_kernels *sxi_spectrum_kernels_best(void);

/* The summit near the middle one of three neighbouring gains, all [SXI_SPECTRUM_WIDTH], from a
 * parabola. sxi_spectrum_lobe - through fourth roots: within 5 % for the main lobe of a window, bins
 * up to 0.55 cycles apart. sxi_spectrum_resonance - through reciprocals: exact for a resonance that
 * dies within the window.
 *
 * out  shift   bins from the middle one, -0.5 .. 0.5
 * out  height  gain there */
void sxi_spectrum_lobe(const float *left, const float *middle, const float *right, float *shift,
                       float *height);
void sxi_spectrum_resonance(const float *left, const float *middle, const float *right,
                            float *shift, float *height);

#endif
