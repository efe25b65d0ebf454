/* SPDX-License-Identifier: Apache-2.0
 * Simulated events: their distribution, and equal bits from any number of threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/sagips.h>

#include "io/hdf5/h5file.h"
#include "sagips/events/draw.h"
#include "sagips/theory/theory.h"
#include "sx_check.h"
#include "sx_folder.h"

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Integral of channel 0 of proxy1d up to x, by a quadrature of its own: Simpson, 64 panels. */
static double cumulative(const sx_theory *theory, const double *p, int channel, double x) {
    enum { PANELS = 64 };
    double sum = 0;
    for (int i = 0; i <= 2 * PANELS; i++) {
        const double at = 0.1 + (x - 0.1) * i / (2 * PANELS);
        double density;
        theory->density(p, channel, 1, &at, &density, NULL);
        sum += (i == 0 || i == 2 * PANELS ? 1 : i % 2 ? 4 : 2) * density;
    }
    return sum * (x - 0.1) / (6 * PANELS);
}

/* Kolmogorov: the p-value of a largest distance d between n draws and their law. */
static double kolmogorov(double d, double n) {
    double sum = 0;
    for (int k = 1; k < 20; k++) {
        sum += (k % 2 ? 2 : -2) * exp(-2 * k * k * d * d * n);
    }
    return sum;
}

static void check_law(const sx_theory *theory, const double *p, uint64_t seed) {
    enum { EVENTS = 200000, EVERY = 100 };
    sxi_drawer *drawer;
    double norms[2], *x = malloc(EVENTS * sizeof *x), event[2];
    ck_ok(sx_theory_norms(theory, p, norms, NULL));
    ck_ok(sxi_drawer_create(theory, p, seed, &drawer));
    for (int k = 0; k < 2; k++) {
        double most = 0;
        for (int64_t i = 0; i < EVENTS; i++) {
            sxi_drawer_event(drawer, i, event);
            x[i] = event[k];
        }
        qsort(x, EVENTS, sizeof *x, compare);
        for (int64_t i = 0; i < EVENTS; i += EVERY) {
            const double law = cumulative(theory, p, k, x[i]) / norms[k];
            most = fmax(most, fabs(law - ((double)i + 0.5) / EVENTS));
        }
        ck_assert_msg(kolmogorov(most, EVENTS) > 0.01, "seed %llu channel %d: distance %g",
                      (unsigned long long)seed, k, most);
    }
    sxi_drawer_destroy(&drawer);
    free(x);
}

START_TEST(law_of_proxy1d) {
    const sx_theory *theory;
    const double truth[] = {2.1875, -0.5, 3, 1.09375, -0.5, 4};
    ck_ok(sx_theory_find("proxy1d", &theory));
    for (uint64_t seed = 1; seed <= 5; seed++) {
        check_law(theory, truth, seed);
    }
}
END_TEST

/* At the ends of the ranges: a steep start, and no fall at all. */
START_TEST(law_at_the_ends) {
    const sx_theory *theory;
    const double ends[] = {3, -1, 5, 3, -1, 0};
    ck_ok(sx_theory_find("proxy1d", &theory));
    check_law(theory, ends, 1);
}
END_TEST

/* Means of x, y and x y of proxy2d from its norms: x^a times x is the norm at a + 1. */
START_TEST(moments_of_proxy2d) {
    enum { EVENTS = 400000 };
    const sx_theory *theory;
    const double p[] = {0.3, 3, 0.2, 3.2, 1.2};
    double norm, moved, sum[3] = {0}, square[3] = {0}, event[2];
    sxi_drawer *drawer;
    ck_ok(sx_theory_find("proxy2d", &theory));
    ck_ok(sxi_drawer_create(theory, p, 3, &drawer));
    for (int64_t i = 0; i < EVENTS; i++) {
        sxi_drawer_event(drawer, i, event);
        const double value[] = {event[0], event[1], event[0] * event[1]};
        for (int k = 0; k < 3; k++) {
            sum[k] += value[k];
            square[k] += value[k] * value[k];
        }
    }
    sxi_drawer_destroy(&drawer);
    ck_ok(sx_theory_norms(theory, p, &norm, NULL));
    for (int k = 0; k < 3; k++) {
        double q[5];
        memcpy(q, p, sizeof p);
        q[0] += k != 1;
        q[2] += k != 0;
        ck_ok(sx_theory_norms(theory, q, &moved, NULL));
        const double mean = sum[k] / EVENTS, spread = square[k] / EVENTS - mean * mean;
        ck_near(mean, moved / norm, 0, 4 * sqrt(spread / EVENTS));
    }
}
END_TEST

static sx_status simulate(const char *truth, int threads, const char *path) {
    const sx_sagips_simulate_options options = {
        .theory = "proxy1d", .events = 3000, .truth = truth, .seed = 7};
    const sx_context context = {.threads = threads};
    return sx_sagips_simulate(&options, path, &context);
}

START_TEST(whole_file) {
    sx_hdf5 *file;
    sx_array one, two;
    double truth[6];
    char text[32];
    ck_ok(simulate("p0=1.5", 1, sx_folder("one.h5")));
    ck_ok(sx_hdf5_open(sx_folder("one.h5"), &file));
    ck_ok(sxi_h5_read(file, "/events", NULL, &one));
    ck_ok(sxi_h5_attribute_reals(file, "/events", "truth", 6, truth));
    ck_ok(sxi_h5_attribute_text(file, "/events", "problem", text, sizeof text));
    sx_hdf5_close(&file);
    ck_near(truth[0], 1.5, 0, 0);
    ck_near(truth[1], -0.5, 0, 0);
    ck_assert_str_eq(text, "proxy1d");
    ck_assert(one.rank == 2 && one.shape[0] == 3000 && one.shape[1] == 2);
    ck_ok(simulate("p0=1.5", 2, sx_folder("two.h5")));
    ck_ok(sx_hdf5_open(sx_folder("two.h5"), &file));
    ck_ok(sxi_h5_read(file, "/events", NULL, &two));
    sx_hdf5_close(&file);
    ck_assert(memcmp(one.data, two.data, 3000 * 2 * sizeof(float)) == 0);
    sx_array_destroy(&one);
    sx_array_destroy(&two);
}
END_TEST

START_TEST(wrong_truth) {
    const char *path = sx_folder("wrong.h5");
    ck_fails(simulate("p0=9", 1, path), SX_ERR_RANGE, "between 0 and 3");
    ck_fails(simulate("p9=1", 1, path), SX_ERR_MISSING, "no parameter 'p9'");
    ck_fails(simulate("p0", 1, path), SX_ERR_ARGUMENT, "NAME=VALUE");
    ck_fails(simulate("p0=1x", 1, path), SX_ERR_ARGUMENT, "not a number");
    ck_fails(simulate("p0=0,p3=0", 1, path), SX_ERR_NUMERIC, "no events can be drawn");
    ck_assert(access(path, F_OK) != 0);
}
END_TEST

SX_TEST_MAIN("simulate_events", law_of_proxy1d, law_at_the_ends, moments_of_proxy2d, whole_file,
             wrong_truth)
