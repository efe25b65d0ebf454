/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include "sx_check.h"

enum { N = 200000 };
static const uint64_t seed = 20240229;

/* Fixed seeds make the outcome certain; 4 sigma says that it is no lucky one. */
static const double sigmas = 4.0;

/* The known answers that Random123 publishes for 10 rounds (kat_vectors). */
START_TEST(philox_gives_the_known_answers) {
    uint32_t b[4];
    sxi_rng_bits(0, 0, 0, 0, b);
    ck_assert(b[0] == 0x6627e8d5 && b[1] == 0xe169c58d && b[2] == 0xbc57ac4c && b[3] == 0x9b00dbd8);
    sxi_rng_bits(UINT64_MAX, UINT32_MAX, UINT64_MAX, UINT32_MAX, b);
    ck_assert(b[0] == 0x408f276d && b[1] == 0x41c83b0e && b[2] == 0xa20bc7c6 && b[3] == 0x6d5451fd);
    sxi_rng_bits(0x299f31d0a4093822, 0x13198a2e, 0x85a308d3243f6a88, 0x03707344, b);
    ck_assert(b[0] == 0xd16cfe09 && b[1] == 0x94fdcceb && b[2] == 0x5001e420 && b[3] == 0x24126ea1);
}
END_TEST

/* Sample mean and variance against those of a distribution with the given excess kurtosis. */
static void check_moments(const char *what, const double *x, double mean, double variance,
                          double kurtosis) {
    double m = 0, v = 0;
    for (int i = 0; i < N; i++) {
        m += x[i] / N;
    }
    for (int i = 0; i < N; i++) {
        v += (x[i] - m) * (x[i] - m) / (N - 1);
    }
    const double mean_error = sqrt(variance / N);
    const double variance_error = variance * sqrt((2.0 + kurtosis) / N);
    printf("%s: mean %+.2f sigma, variance %+.2f sigma\n", what, (m - mean) / mean_error,
           (v - variance) / variance_error);
    ck_near(m, mean, 0, sigmas * mean_error);
    ck_near(v, variance, 0, sigmas * variance_error);
}

static double x[N];

START_TEST(uniform_is_uniform_and_open) {
    for (int i = 0; i < N; i++) {
        x[i] = sxi_rng_uniform(seed, 1, (uint64_t)i);
        ck_assert(x[i] > 0.0 && x[i] < 1.0);
    }
    check_moments("uniform", x, 0.5, 1.0 / 12.0, -1.2);
    int count[16] = {0};
    double chi2 = 0;
    for (int i = 0; i < N; i++) {
        count[(int)(x[i] * 16.0)]++;
    }
    for (int k = 0; k < 16; k++) {
        chi2 += pow(count[k] - N / 16.0, 2) / (N / 16.0);
    }
    ck_near(chi2, 15, 0, sigmas * sqrt(30.0));
}
END_TEST

START_TEST(normal_is_normal) {
    int beyond_two = 0;
    for (int i = 0; i < N; i++) {
        x[i] = sxi_rng_normal(seed, 2, (uint64_t)i);
        beyond_two += fabs(x[i]) > 2.0;
    }
    check_moments("normal", x, 0, 1, 0);
    const double p = erfc(sqrt(2.0));
    ck_near(beyond_two, N * p, 0, sigmas * sqrt(N * p * (1 - p)));
}
END_TEST

START_TEST(poisson_has_its_mean_and_variance) {
    const double means[] = {0.01, 0.7, 9.99, 10.0, 25.0, 300.0, 2e4, 1e8, 9e8, 1e12};
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        for (int i = 0; i < N; i++) {
            x[i] = (double)sxi_rng_poisson(seed, (uint32_t)m, (uint64_t)i, means[m]);
        }
        char what[32];
        snprintf(what, sizeof what, "poisson %g", means[m]);
        check_moments(what, x, means[m], means[m], 1.0 / means[m]);
    }
}
END_TEST

/* Every probability, on both sides of the change of method. */
START_TEST(poisson_has_its_probabilities) {
    const double means[] = {3.0, 9.999, 10.0, 40.0};
    for (size_t m = 0; m < sizeof means / sizeof *means; m++) {
        int count[128] = {0};
        for (int i = 0; i < N; i++) {
            const int64_t k = sxi_rng_poisson(seed, 50 + (uint32_t)m, (uint64_t)i, means[m]);
            ck_assert(k >= 0 && k < 128);
            count[k]++;
        }
        for (int k = 0; k < 128; k++) {
            const double p = exp(k * log(means[m]) - means[m] - lgamma(k + 1.0));
            if (N * p > 20) { /* fewer are not normal */
                ck_near(count[k], N * p, 0, sigmas * sqrt(N * p));
            }
        }
    }
}
END_TEST

START_TEST(draws_depend_on_nothing_else) {
    const int64_t k = sxi_rng_poisson(seed, 3, 77, 25.0);
    sxi_rng_poisson(seed, 3, 78, 25.0);
    ck_assert_int_eq(sxi_rng_poisson(seed, 3, 77, 25.0), k);
    ck_assert(sxi_rng_uniform(seed, 3, 77) != sxi_rng_uniform(seed, 4, 77));
    ck_assert(sxi_rng_uniform(seed, 3, 77) != sxi_rng_uniform(seed + 1, 3, 77));
    ck_assert_int_eq(sxi_rng_poisson(seed, 3, 77, 0.0), 0);
    ck_assert_int_eq(sxi_rng_poisson(seed, 3, 77, -2.0), 0);
    ck_assert_int_eq(sxi_rng_poisson(seed, 3, 77, (double)NAN), 0);
    ck_assert_int_eq(sxi_rng_poisson(seed, 3, 77, 1e30), (int64_t)1 << 62);
}
END_TEST

SX_TEST_MAIN("rng", philox_gives_the_known_answers, uniform_is_uniform_and_open, normal_is_normal,
             poisson_has_its_mean_and_variance, poisson_has_its_probabilities,
             draws_depend_on_nothing_else)
