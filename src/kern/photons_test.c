/* SPDX-License-Identifier: Apache-2.0
 * Photon counts: the Poisson distribution, and every variant alike. */
#include "kern/photons.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sx_check.h"

enum { SEED = 3, STREAM = 5 };

static sxi_photons *photons;

/* Pearson's chi2 over the counts of which at least 10 are expected; 5 standard deviations of it. */
static void check_distribution(double mean) {
    enum { PIXELS = 4000, FRAMES = 250, MOST = 300 };
    static float means[PIXELS];
    static uint16_t count[PIXELS];
    int64_t seen[MOST + 1] = {0};
    for (int i = 0; i < PIXELS; i++) {
        means[i] = (float)(mean / 2);
    }
    for (uint64_t frame = 0; frame < FRAMES; frame++) {
        sxi_photons_draw(photons, SEED, STREAM, frame, PIXELS, means, 2, count);
        for (int i = 0; i < PIXELS; i++) {
            seen[count[i] < MOST ? count[i] : MOST]++;
        }
    }
    ck_assert_int_eq(seen[MOST], 0);
    const double all = (double)PIXELS * FRAMES, exact = 2 * (double)means[0];
    double chi2 = 0, sum = 0;
    int classes = 0;
    for (int k = 0; k < MOST; k++) {
        const double expected = all * exp(k * log(exact) - exact - lgamma(k + 1.0));
        sum += (double)(k * seen[k]);
        if (expected >= 10) {
            chi2 += pow((double)seen[k] - expected, 2) / expected;
            classes++;
        }
    }
    printf("mean %g: chi2 %.1f of %d counts, mean off by %.2f sigma\n", mean, chi2, classes,
           (sum / all - exact) / sqrt(exact / all));
    ck_near(chi2, classes, 0, 5 * sqrt(2.0 * classes));
    ck_near(sum / all, exact, 0, 4 * sqrt(exact / all));
}

START_TEST(counts_are_poisson) {
    /* On a table, between two, where the rest is largest, at the end of the tables and beyond. */
    static const double means[] = {0.004, 0.015624, 0.3,   1,   2.0078, 7.77, 15.99,
                                   16,    16.7,     40.99, 130, 191.9,  193};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        check_distribution(means[i]);
    }
}
END_TEST

START_TEST(no_light_no_photons) {
    float mean[40];
    uint16_t count[40];
    for (int i = 0; i < 40; i++) {
        mean[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? 0.0F : -1.0F;
    }
    memset(count, 0xff, sizeof count);
    sxi_photons_draw(photons, SEED, STREAM, 0, 40, mean, 1, count);
    for (int i = 0; i < 40; i++) {
        ck_assert_int_eq(count[i], 0);
    }
    mean[7] = 1e9F;
    sxi_photons_draw(photons, SEED, STREAM, 0, 40, mean, 1, count);
    ck_assert_int_eq(count[7], 65535);
}
END_TEST

START_TEST(variants_agree) {
    enum { BLOCKS = 300, N = BLOCKS * SXI_PHOTONS_BLOCK };
    static float mean[N];
    static uint16_t expected[N], found[N];
    for (int i = 0; i < N; i++) {
        mean[i] = i % 97 == 0 ? NAN : (float)(pow(i % 500 / 33.0, 2) - 0.1);
    }
    sxi_photons_variant_get(0)->blocks(photons, SEED, STREAM, 7, BLOCKS, mean, 0.9F, expected);
    for (int number = 1; sxi_photons_variant_get(number); number++) {
        const sxi_photons_variant *variant = sxi_photons_variant_get(number);
        variant->blocks(photons, SEED, STREAM, 7, BLOCKS, mean, 0.9F, found);
        ck_assert_msg(memcmp(expected, found, sizeof found) == 0, "%s", variant->name);
    }
}
END_TEST

/* A pixel's number does not depend on what the others do, nor on how many frames are drawn. */
START_TEST(frames_are_independent) {
    enum { N = 100 };
    float mean[N];
    uint16_t one[N], other[N];
    for (int i = 0; i < N; i++) {
        mean[i] = 3;
    }
    sxi_photons_draw(photons, SEED, STREAM, 4, N, mean, 1, one);
    mean[50] = 300;
    sxi_photons_draw(photons, SEED, STREAM, 4, N, mean, 1, other);
    for (int i = 0; i < N; i++) {
        ck_assert(i == 50 || one[i] == other[i]);
    }
    sxi_photons_draw(photons, SEED, STREAM, 5, N, mean, 1, other);
    int same = 0;
    for (int i = 0; i < N; i++) {
        same += one[i] == other[i];
    }
    ck_assert_int_lt(same, 40); /* chance: 0.17 of them */
}
END_TEST

SX_TEST_RUNNER("photons", run_tests, counts_are_poisson, no_light_no_photons, variants_agree,
               frames_are_independent)

int main(void) {
    if (sxi_photons_create(&photons) != SX_OK) {
        return 1;
    }
    const int failed = run_tests();
    sxi_photons_destroy(&photons);
    return failed;
}
