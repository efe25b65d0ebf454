/* SPDX-License-Identifier: Apache-2.0
 * Columns against the C library in long double, and against plain sums. */
#include "kern/column.h"

#include "base/rng.h"
#include "kern/kern.h"
#include "kern/wave.h"
#include "sx_check.h"

enum { N = 4096 };

static double uniform(uint32_t stream, int i, double low, double high) {
    return low + (high - low) * sxi_rng_uniform(51, stream, (uint64_t)i);
}

/* Two roundings of the last product and sum beside the reduction: 2 units of 2.2e-16. */
START_TEST(decay_is_exp) {
    for (int i = 0; i < 20000; i++) {
        double d = i % 2 ? uniform(1, i, -3, 30) : uniform(1, i, -700, 700);
        ck_near(sxi_wave_decay(d), (double)expl(-(long double)d), 4e-16, 0);
    }
    ck_near(sxi_wave_decay(0), 1, 0, 0);
    ck_near(sxi_wave_decay(1e9), (double)expl(-700), 4e-16, 0);
    ck_near(sxi_wave_decay(-1e9), (double)expl(700), 4e-16, 0);
}
END_TEST

START_TEST(turns_are_cosine_and_sine) {
    const long double pi = 3.14159265358979323846264338327950288L;
    for (int i = 0; i < 20000; i++) {
        double h = i % 2 ? uniform(2, i, -2, 2) : uniform(2, i, -1e5, 1e5);
        double c, s;
        sxi_wave_turn(h, &c, &s);
        long double angle = pi * fmodl((long double)h, 2);
        ck_near(c, (double)cosl(angle), 0, 5e-16);
        ck_near(s, (double)sinl(angle), 0, 5e-16);
    }
    const double quarters[5][3] = {
        {0, 1, 0}, {0.5, 0, 1}, {1, -1, 0}, {-0.5, 0, -1}, {1000000, 1, 0}};
    for (int i = 0; i < 5; i++) {
        double c, s;
        sxi_wave_turn(quarters[i][0], &c, &s);
        ck_near(c, quarters[i][1], 0, 2e-16);
        ck_near(s, quarters[i][2], 0, 2e-16);
    }
}
END_TEST

/* A damped cosine of f cycles: rounding of f x is 1e-16 f turns, whatever computes the cosine; the
 * recurrence adds 64 products of 2e-16. */
static void check_dcos(double dx, const double *x, double g, double f) {
    static double s[N], u[N], v[N];
    double bound = 1e-14 + 2e-15 * f;
    for (int i = 0; i < N; i++) {
        s[i] = uniform(3, i, 0.1, 2);
    }
    sxi_column_dcos(N, x, dx, s, g, f, u, v);
    for (int i = 0; i < N; i++) {
        double e = s[i] * exp(-g * x[i]), angle = 6.283185307179586476925 * f * x[i];
        ck_near(u[i], e * cos(angle), 0, bound * e);
        ck_near(v[i], e * sin(angle), 0, bound * e);
    }
}

START_TEST(damped_cosines_are_those_of_the_library) {
    static double even[N], uneven[N];
    for (int i = 0; i < N; i++) {
        even[i] = i / (double)(N - 1);
        uneven[i] = uniform(4, i, 0, 1);
    }
    for (int i = 0; i < 40; i++) {
        double g = uniform(5, i, -3, 60), f = uniform(6, i, 0, 0.5 * N);
        check_dcos(1 / (double)(N - 1), even, g, f);
        check_dcos(0, uneven, g, f);
    }
}
END_TEST

/* Derivatives against central differences of 1e-5, good to 1e-9. */
START_TEST(slopes_are_derivatives) {
    enum { M = 64 };
    double x[M], s[M], u[M], v[M], mg[M], mf[M], p[4][M], q[4][M];
    const double a = 0.7, b = -1.3, g = 2.1, f = 5.3, h = 1e-5;
    for (int i = 0; i < M; i++) {
        x[i] = uniform(7, i, 0, 1);
        s[i] = uniform(8, i, 0.5, 1);
    }
    sxi_column_dcos(M, x, 0, s, g, f, u, v);
    sxi_column_dcos_slope(M, x, u, v, a, b, mg, mf);
    sxi_column_dcos(M, x, 0, s, g + h, f, p[0], q[0]);
    sxi_column_dcos(M, x, 0, s, g - h, f, p[1], q[1]);
    sxi_column_dcos(M, x, 0, s, g, f + h, p[2], q[2]);
    sxi_column_dcos(M, x, 0, s, g, f - h, p[3], q[3]);
    for (int i = 0; i < M; i++) {
        ck_near(mg[i], (a * (p[0][i] - p[1][i]) + b * (q[0][i] - q[1][i])) / (2 * h), 0, 1e-7);
        ck_near(mf[i], (a * (p[2][i] - p[3][i]) + b * (q[2][i] - q[3][i])) / (2 * h), 0, 1e-7);
    }
}
END_TEST

START_TEST(sums_and_projections) {
    enum { M = 200 };
    double a[M], q[M], sum = 0, norm = 0;
    for (int i = 0; i < M; i++) {
        a[i] = uniform(9, i, -1, 1);
        q[i] = uniform(10, i, -1, 1);
        sum += a[i] * q[i];
        norm += q[i] * q[i];
    }
    ck_near(sxi_column_dot(M, a, q), sum, 0, 1e-13);
    sxi_column_scale(M, 1 / sqrt(norm), q);
    ck_near(sxi_column_dot(M, q, q), 1, 1e-14, 0);
    ck_near(sxi_column_project(M, q, a), sum / sqrt(norm), 0, 1e-13);
    ck_near(sxi_column_dot(M, q, a), 0, 0, 1e-14);
}
END_TEST

SX_TEST_MAIN("column", decay_is_exp, turns_are_cosine_and_sine,
             damped_cosines_are_those_of_the_library, slopes_are_derivatives, sums_and_projections)
