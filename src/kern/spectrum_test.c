/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/spectrum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

enum { WIDTH = SXI_SPECTRUM_WIDTH, LONGEST = 512, BINS = 192 };
static const double PI = 3.14159265358979323846;

static const sxi_spectrum_kernels *kernels;

/* With every variant that this machine can run. */
static void each(void (*check)(void)) {
    for (int v = 0; (kernels = sxi_spectrum_kernels_variant(v)); v++) {
        check();
    }
}

static float noise(uint32_t stream, int64_t i) {
    return (float)sxi_rng_normal(61, stream, (uint64_t)i);
}

static float *lanes(int64_t rows) {
    float *made = aligned_alloc(64, (size_t)rows * WIDTH * sizeof *made);
    memset(made, 0, (size_t)rows * WIDTH * sizeof *made);
    return made;
}

static sxi_spectrum_plan plan_create(int64_t length) {
    sxi_spectrum_plan plan = {.length = length};
    plan.twiddle = malloc((size_t)(sxi_spectrum_twiddles(length) + 1) * sizeof(float));
    plan.place = malloc((size_t)length * sizeof(int32_t));
    plan.turn = malloc((size_t)(length / 2 + 1) * 2 * sizeof(float));
    sxi_spectrum_plan_fill(&plan);
    return plan;
}

static void plan_destroy(sxi_spectrum_plan *plan) {
    free(plan->twiddle);
    free(plan->place);
    free(plan->turn);
}

START_TEST(lengths_are_products) {
    const int64_t expected[] = {3, 3, 3, 3, 4, 6, 6, 8, 8, 12, 12, 12, 12, 16};
    for (int64_t least = 0; least < 14; least++) {
        ck_assert_int_eq(sxi_spectrum_length(least), expected[least]);
    }
    ck_assert_int_eq(sxi_spectrum_length(181), 192);
    ck_assert_int_eq(sxi_spectrum_length(193), 256);
}
END_TEST

static void check_blocks_are_transposed(void) {
    enum { N = 37 };
    float rows[WIDTH * N];
    const float *row[WIDTH];
    for (int i = 0; i < WIDTH * N; i++) {
        rows[i] = (float)i;
    }
    for (int l = 0; l < WIDTH; l++) {
        row[l] = rows + l * N;
    }
    float *block = lanes(N);
    kernels->block(N, row, block);
    for (int i = 0; i < N; i++) {
        for (int l = 0; l < WIDTH; l++) {
            ck_near(block[i * WIDTH + l], l * N + i, 0, 0);
        }
    }
    free(block);
}

START_TEST(blocks_are_transposed) { each(check_blocks_are_transposed); }
END_TEST

/* Bins of the real spectrum by definition. */
static void check_length(int64_t length, int64_t n) {
    const int64_t top = length;
    sxi_spectrum_plan plan = plan_create(length);
    float *block = lanes(n), *data = lanes(2 * length), *gain = lanes(top + 1);
    float weight[5 * LONGEST + 1], form[(LONGEST + 1) * 3];
    for (int64_t i = 0; i < n; i++) {
        weight[i] = 1 + 0.1F * noise(1, i);
        for (int l = 0; l < WIDTH; l++) {
            block[i * WIDTH + l] = noise(2, i * WIDTH + l);
        }
    }
    for (int64_t i = 0; i < 3 * (top + 1); i++) {
        form[i] = noise(3, i);
    }
    kernels->transform(&plan, n, weight, block, data);
    kernels->gain(&plan, top, form, data, gain);
    for (int64_t k = 0; k <= top; k++) {
        for (int l = 0; l < WIDTH; l += 5) {
            double re = 0, im = 0;
            for (int64_t i = 0; i < n; i++) {
                double y = 2 * (double)(weight[i] * block[i * WIDTH + l]);
                double angle = PI * (double)(k * i % (2 * length)) / (double)length;
                re += y * cos(angle);
                im -= y * sin(angle);
            }
            double expected = (double)form[3 * k] * re * re + (double)form[3 * k + 1] * re * im +
                              (double)form[3 * k + 2] * im * im;
            /* rounding of some ten additions, against sums of squares up to 40 n */
            ck_near(gain[k * WIDTH + l], expected, 0, 3e-6 * 40 * (double)n);
        }
    }
    free(block);
    free(data);
    free(gain);
    plan_destroy(&plan);
}

static void check_spectra_are_those_of_the_definition(void) {
    const int64_t length[] = {3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 512};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        /* few samples, about half of what fits, all, more, and folded three times */
        const int64_t part[] = {1, 3, 8, 9, 15, 16, 17, 40};
        for (size_t j = 0; j < sizeof part / sizeof *part; j++) {
            check_length(length[i], 2 * ((length[i] * part[j] + 15) / 16));
        }
    }
}

START_TEST(spectra_are_those_of_the_definition) { each(check_spectra_are_those_of_the_definition); }
END_TEST

/* The sums of a filter by definition, and the gain they give. */
static double gain_by_hand(int64_t n, double g, double angle, const float *w, const float *y,
                           bool centred) {
    double ru = 0, rv = 0, one = 0, u1 = 0, v1 = 0, uu = 0, uv = 0, vv = 0;
    for (int64_t i = 0; i < n; i++) {
        double e = exp(-g * (double)i), u = e * cos(angle * (double)i),
               v = e * sin(angle * (double)i);
        double weight = (double)w[i * WIDTH], residual = (double)y[i * WIDTH];
        ru += residual * u;
        rv += residual * v;
        one += weight;
        u1 += weight * u;
        v1 += weight * v;
        uu += weight * u * u;
        uv += weight * u * v;
        vv += weight * v * v;
    }
    uu -= centred ? u1 * u1 / one : 0;
    uv -= centred ? u1 * v1 / one : 0;
    vv -= centred ? v1 * v1 / one : 0;
    return (vv * ru * ru - 2 * uv * ru * rv + uu * rv * rv) / (uu * vv - uv * uv);
}

/* Weights of each trace, some missing; the last is missing wholly. */
static void check_own_weights_give_own_gains(void) {
    enum { N = 60, LENGTH = 48, TOP = 47 };
    static const double DECAY = 0.03;
    sxi_spectrum_plan plan = plan_create(LENGTH);
    float *y = lanes(N), *w = lanes(N), *data = lanes(2 * LENGTH), *gain = lanes(LENGTH + 1);
    float *bins[3] = {lanes(2 * LENGTH + 2), lanes(2 * LENGTH + 2), lanes(2 * LENGTH + 2)};
    float once[N], twice[N], over[WIDTH] = {0};
    for (int i = 0; i < N * WIDTH; i++) {
        once[i / WIDTH] = (float)exp(-DECAY * (i / WIDTH));
        twice[i / WIDTH] = (float)exp(-2 * DECAY * (i / WIDTH));
        w[i] = i % WIDTH == WIDTH - 1 || i % 7 == 3 ? 0 : 0.2F + fabsf(noise(12, i));
        y[i] = w[i] * noise(13, i);
        over[i % WIDTH] += w[i];
    }
    for (int l = 0; l < WIDTH; l++) {
        over[l] = l % 2 ? 0 : 1 / over[l];
    }
    kernels->transform(&plan, N, once, y, data);
    kernels->bins(&plan, TOP, data, bins[0]);
    kernels->transform(&plan, N, once, w, data);
    kernels->bins(&plan, TOP, data, bins[1]);
    kernels->transform(&plan, N, twice, w, data);
    kernels->bins(&plan, LENGTH, data, bins[2]);
    kernels->own_gain(LENGTH, TOP, bins[0], bins[1], bins[2], over, gain);
    for (int k = 0; k <= TOP; k++) {
        for (int l = 0; l < WIDTH; l++) {
            double expected =
                l == WIDTH - 1 ? 0
                : k == 0       ? (double)gain[k * WIDTH + l]
                               : gain_by_hand(N, DECAY, PI * k / LENGTH, w + l, y + l, l % 2 == 0);
            /* the matrix of squares loses a digit or two near zero and Nyquist */
            ck_near(gain[k * WIDTH + l], expected, 3e-4, 1e-4);
        }
    }
    for (int l = 1; l < WIDTH - 1; l += 2) { /* at zero there is no sine */
        double sum = 0, square = 0;
        for (int i = 0; i < N; i++) {
            sum += (double)(y[i * WIDTH + l] * once[i]);
            square += (double)(w[i * WIDTH + l] * twice[i]);
        }
        ck_near(gain[l], sum * sum / square, 1e-4, 1e-5);
    }
    free(y);
    free(w);
    free(data);
    free(gain);
    for (int j = 0; j < 3; j++) {
        free(bins[j]);
    }
    plan_destroy(&plan);
}

START_TEST(own_weights_give_own_gains) { each(check_own_weights_give_own_gains); }
END_TEST

static void check_few_bins_are_the_first_of_all(void) {
    enum { LENGTH = 48 };
    sxi_spectrum_plan plan = plan_create(LENGTH);
    float *data = lanes(2 * LENGTH), *all = lanes(LENGTH + 1), *few = lanes(LENGTH + 1);
    float form[3 * (LENGTH + 1)];
    for (int i = 0; i < 2 * LENGTH * WIDTH; i++) {
        data[i] = noise(4, i);
    }
    for (int i = 0; i < 3 * (LENGTH + 1); i++) {
        form[i] = noise(5, i);
    }
    kernels->gain(&plan, LENGTH, form, data, all);
    for (int top = 0; top < LENGTH; top += 7) {
        memset(few, 0, sizeof(float) * WIDTH * (LENGTH + 1));
        kernels->gain(&plan, top, form, data, few);
        ck_assert_mem_eq(few, all, sizeof(float) * WIDTH * (size_t)(top + 1));
        for (int i = (top + 1) * WIDTH; i < (LENGTH + 1) * WIDTH; i++) {
            ck_near(few[i], 0, 0, 0);
        }
    }
    free(data);
    free(all);
    free(few);
    plan_destroy(&plan);
}

START_TEST(few_bins_are_the_first_of_all) { each(check_few_bins_are_the_first_of_all); }
END_TEST

static void check_the_largest_is_found(void) {
    enum { LAST = 37 };
    float *gain = lanes(LAST + 1), most[WIDTH];
    for (int i = 0; i < (LAST + 1) * WIDTH; i++) {
        gain[i] = i % 7 == 3 ? NAN : noise(6, i);
    }
    for (int first = 0; first <= LAST; first++) {
        for (int l = 0; l < WIDTH; l++) {
            most[l] = 0.1F * (float)l;
        }
        kernels->most(first, LAST, gain, most);
        for (int l = 0; l < WIDTH; l++) {
            float highest = 0.1F * (float)l;
            for (int k = first; k <= LAST; k++) {
                highest = fmaxf(highest, gain[k * WIDTH + l]);
            }
            ck_near(most[l], highest, 0, 0);
        }
    }
    free(gain);
}

START_TEST(the_largest_is_found) { each(check_the_largest_is_found); }
END_TEST

/* Against a plain loop, over more bins than one mask holds. */
static void check_peaks_are_found(void) {
    enum { FIRST = 2, LAST = 77 };
    float *gain = lanes(LAST + 3), least[WIDTH];
    uint32_t *mask = aligned_alloc(64, 3 * WIDTH * sizeof *mask);
    for (int i = 0; i < (LAST + 3) * WIDTH; i++) {
        gain[i] = fabsf(noise(8, i));
    }
    int found = 0;
    for (int l = 0; l < WIDTH; l++) {
        least[l] = 0.1F * (float)l;
    }
    kernels->peaks(FIRST, LAST, gain, least, mask);
    for (int l = 0; l < WIDTH; l++) {
        for (int k = FIRST; k <= LAST; k++) {
            float before = k > FIRST ? gain[(k - 1) * WIDTH + l] : 0;
            float after = k < LAST ? gain[(k + 1) * WIDTH + l] : 0;
            float here = gain[k * WIDTH + l];
            bool expected = here > before && here >= after && here >= least[l];
            ck_assert_int_eq(mask[(k - FIRST) / 32 * WIDTH + l] >> (k - FIRST) % 32 & 1, expected);
            found += expected;
        }
    }
    ck_assert_int_gt(found, 100);
    free(gain);
    free(mask);
}

START_TEST(peaks_are_found) { each(check_peaks_are_found); }
END_TEST

static int downwards(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

static void check_crowds_are_thinned(void) {
    enum { FIRST = 3, STRETCH = 5, LAST = FIRST + 16 * STRETCH + 2 };
    float *gain = lanes(LAST + 1), least[WIDTH], most[16];
    for (int i = 0; i < (LAST + 1) * WIDTH; i++) {
        gain[i] = fabsf(noise(9, i));
    }
    for (int l = 0; l < WIDTH; l++) {
        least[l] = l == 5 ? 100 : 0.1F;
    }
    kernels->crowd(FIRST, LAST, gain, least);
    for (int l = 0; l < WIDTH; l++) {
        for (int s = 0; s < 16; s++) {
            most[s] = 0;
            for (int i = 0; i < STRETCH; i++) {
                most[s] = fmaxf(most[s], gain[(FIRST + s * STRETCH + i) * WIDTH + l]);
            }
        }
        qsort(most, 16, sizeof *most, downwards);
        ck_near(least[l], l == 5 ? 100 : (double)most[SXI_SPECTRUM_CROWD - 1], 0, 0);
    }
    free(gain);
}

START_TEST(crowds_are_thinned) { each(check_crowds_are_thinned); }
END_TEST

/* A search from samples to peaks; gains [LENGTH + 1], then the coarse [LENGTH / RATIO + 1], then with
 * the bins for weights [LENGTH], of which nothing but the bits makes sense. */
static void chain(float *gains, uint32_t *mask) {
    enum { SAMPLES = 200, LENGTH = BINS, RATIO = 4 };
    sxi_spectrum_plan fine = plan_create(LENGTH), coarse = plan_create(LENGTH / RATIO);
    float rows[WIDTH * SAMPLES], form[3 * (LENGTH + 1)], weight[SAMPLES], least[WIDTH] = {0};
    const float *row[WIDTH];
    float *block = lanes(SAMPLES), *data = lanes(2 * LENGTH);
    for (int i = 0; i < WIDTH * SAMPLES; i++) {
        rows[i] = noise(10, i);
        row[i / SAMPLES] = rows + i / SAMPLES * SAMPLES;
        weight[i % SAMPLES] = 1 + 0.01F * (float)(i % SAMPLES);
    }
    for (int i = 0; i < 3 * (LENGTH + 1); i++) {
        form[i] = noise(11, i);
    }
    kernels->block(SAMPLES, row, block);
    kernels->transform(&coarse, SAMPLES, weight, block, data);
    kernels->gain(&coarse, LENGTH / RATIO, form, data, gains + (LENGTH + 1) * WIDTH);
    kernels->transform(&fine, SAMPLES, weight, block, data);
    kernels->gain(&fine, LENGTH, form, data, gains);
    float *bins = lanes(2 * LENGTH + 2);
    kernels->bins(&fine, LENGTH, data, bins);
    kernels->own_gain(LENGTH, LENGTH - 1, bins, bins, bins, least,
                      gains + (LENGTH + LENGTH / RATIO + 2) * WIDTH);
    free(bins);
    kernels->most(1, LENGTH - 1, gains, least);
    for (int l = 0; l < WIDTH; l++) {
        least[l] *= 0.1F;
    }
    kernels->crowd(1, LENGTH - 1, gains, least);
    kernels->peaks(1, LENGTH - 1, gains, least, mask);
    free(block);
    free(data);
    plan_destroy(&fine);
    plan_destroy(&coarse);
}

START_TEST(variants_give_the_same_bits) {
    enum { MASKS = BINS / 32, ROWS = BINS + 1 + BINS / 4 + 1 + BINS };
    float *gains[2] = {lanes(ROWS), lanes(ROWS)};
    uint32_t mask[2][MASKS * WIDTH] __attribute__((aligned(64)));
    int found = 0;
    kernels = sxi_spectrum_kernels_variant(0);
    chain(gains[0], mask[0]);
    for (int i = 0; i < MASKS * WIDTH; i++) {
        found += mask[0][i] != 0;
    }
    ck_assert_int_gt(found, 3 * WIDTH);
    for (int v = 1; (kernels = sxi_spectrum_kernels_variant(v)); v++) {
        chain(gains[1], mask[1]);
        ck_assert_mem_eq(gains[1], gains[0], sizeof(float) * ROWS * WIDTH);
        ck_assert_mem_eq(mask[1], mask[0], sizeof mask[0]);
    }
    free(gains[0]);
    free(gains[1]);
}
END_TEST

/* Bins 0.55 cycles apart of a cosine, and of a resonance about as wide: summit 1 wherever it is. */
START_TEST(summits_lie_between_bins) {
    float a[2][WIDTH], b[2][WIDTH], c[2][WIDTH], shift[WIDTH], height[WIDTH];
    double at[WIDTH];
    for (int l = 0; l < WIDTH; l++) {
        at[l] = (double)l / (WIDTH - 1) - 0.5;
        for (int kind = 0; kind < 2; kind++) {
            double value[3];
            for (int j = 0; j < 3; j++) {
                double x = (j - 1 - at[l]) * 0.55 * PI + 1e-9;
                value[j] = kind ? 1 / (1 + 0.3 * x * x) : pow(sin(x) / x, 2);
            }
            a[kind][l] = (float)value[0];
            b[kind][l] = (float)value[1];
            c[kind][l] = (float)value[2];
        }
    }
    sxi_spectrum_lobe(a[0], b[0], c[0], shift, height);
    for (int l = 0; l < WIDTH; l++) {
        ck_near(height[l], 1, 0.05, 0);
        ck_near(shift[l], at[l], 0, 0.03);
    }
    sxi_spectrum_resonance(a[1], b[1], c[1], shift, height);
    for (int l = 0; l < WIDTH; l++) {
        ck_near(height[l], 1, 1e-6, 0);
        ck_near(shift[l], at[l], 0, 1e-5);
    }
}
END_TEST

START_TEST(nothing_has_no_summit) {
    float zero[WIDTH] = {0}, shift[WIDTH], height[WIDTH];
    sxi_spectrum_lobe(zero, zero, zero, shift, height);
    ck_near(shift[0], 0, 0, 0);
    ck_near(height[0], 0, 0, 0);
    sxi_spectrum_resonance(zero, zero, zero, shift, height);
    ck_near(shift[0], 0, 0, 0);
    ck_near(height[0], 0, 0, 0);
}
END_TEST

SX_TEST_MAIN("spectrum", lengths_are_products, blocks_are_transposed,
             spectra_are_those_of_the_definition, own_weights_give_own_gains,
             few_bins_are_the_first_of_all, the_largest_is_found, peaks_are_found,
             crowds_are_thinned, variants_give_the_same_bits, summits_lie_between_bins,
             nothing_has_no_summit)
