/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/column.h"

#include "kern/kern.h"
#include "kern/wave.h"

static const double TWO_PI = 6.283185307179586476925286766559;

static inline double lanes_sum(const double lane[SXI_LANES]) {
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

SXI_CLONES
double sxi_column_dot(int64_t n, const double *a, const double *b) {
    double lane[SXI_LANES] = {0};
    for (int64_t i = 0; i < n; i += SXI_LANES) {
        for (int l = 0; l < SXI_LANES; l++) {
            lane[l] += a[i + l] * b[i + l];
        }
    }
    return lanes_sum(lane);
}

SXI_CLONES
double sxi_column_project(int64_t n, const double *restrict q, double *restrict a) {
    double lane[SXI_LANES] = {0};
    for (int64_t i = 0; i < n; i += SXI_LANES) {
        for (int l = 0; l < SXI_LANES; l++) {
            lane[l] += q[i + l] * a[i + l];
        }
    }
    double r = lanes_sum(lane);
    for (int64_t i = 0; i < n; i++) {
        a[i] -= r * q[i];
    }
    return r;
}

SXI_CLONES
void sxi_column_scale(int64_t n, double factor, double *a) {
    for (int64_t i = 0; i < n; i++) {
        a[i] *= factor;
    }
}

SXI_CLONES
static double column_mean(int64_t n, const double *y) {
    double lane[SXI_LANES] = {0};
    int64_t i = 0;
    for (; i + SXI_LANES <= n; i += SXI_LANES) {
        for (int l = 0; l < SXI_LANES; l++) {
            lane[l] += y[i + l];
        }
    }
    for (; i < n; i++) {
        lane[i % SXI_LANES] += y[i];
    }
    return lanes_sum(lane) / (double)n;
}

SXI_CLONES
static void column_deviations(int64_t n, const double *y, double mean, sxi_column_shape *shape) {
    double square[SXI_LANES] = {0}, beside[SXI_LANES] = {0};
    int64_t i = 0;
    for (; i + SXI_LANES < n; i += SXI_LANES) {
        for (int l = 0; l < SXI_LANES; l++) {
            const double d = y[i + l] - mean, next = y[i + l + 1] - mean;
            square[l] += d * d;
            beside[l] += d * next;
        }
    }
    for (; i < n; i++) {
        const double d = y[i] - mean, next = i + 1 < n ? y[i + 1] - mean : 0;
        square[i % SXI_LANES] += d * d;
        beside[i % SXI_LANES] += d * next;
    }
    shape->square = lanes_sum(square);
    shape->neighbours = lanes_sum(beside);
}

void sxi_column_describe(int64_t n, const double *y, bool about_mean, sxi_column_shape *shape) {
    shape->mean = about_mean ? column_mean(n, y) : 0;
    column_deviations(n, y, shape->mean, shape);
}

/* Eight lanes of z_{i+8} = z_i q^8. Started afresh every RESTART samples, so that rounding stays
 * below RESTART / 8 multiplications. */
enum { RESTART = 512 };

SXI_CLONES
static void dcos_uniform(int64_t n, double dx, const double *restrict s, double g, double f,
                         double *restrict u, double *restrict v) {
    double step = sxi_wave_decay(g * dx * SXI_LANES), qr, qi;
    sxi_wave_turn(2 * f * dx * SXI_LANES, &qr, &qi);
    qr *= step;
    qi *= step;
    double re[SXI_LANES] = {0}, im[SXI_LANES] = {0};
    for (int64_t i = 0; i < n; i += SXI_LANES) {
        if (i % RESTART == 0) {
            for (int l = 0; l < SXI_LANES; l++) {
                double x = (double)(i + l) * dx;
                double e = sxi_wave_decay(g * x);
                sxi_wave_turn(2 * f * x, &re[l], &im[l]);
                re[l] *= e;
                im[l] *= e;
            }
        }
        for (int l = 0; l < SXI_LANES; l++) {
            u[i + l] = s[i + l] * re[l];
            v[i + l] = s[i + l] * im[l];
            double t = re[l] * qr - im[l] * qi;
            im[l] = re[l] * qi + im[l] * qr;
            re[l] = t;
        }
    }
}

SXI_CLONES
static void dcos_uneven(int64_t n, const double *restrict x, const double *restrict s, double g,
                        double f, double *restrict u, double *restrict v) {
    for (int64_t i = 0; i < n; i++) {
        double e = s[i] * sxi_wave_decay(g * x[i]), cosine, sine;
        sxi_wave_turn(2 * f * x[i], &cosine, &sine);
        u[i] = e * cosine;
        v[i] = e * sine;
    }
}

void sxi_column_dcos(int64_t n, const double *x, double dx, const double *s, double g, double f,
                     double *u, double *v) {
    if (dx > 0) {
        dcos_uniform(n, dx, s, g, f, u, v);
    } else {
        dcos_uneven(n, x, s, g, f, u, v);
    }
}

SXI_CLONES
void sxi_column_dcos_slope(int64_t n, const double *restrict x, const double *restrict u,
                           const double *restrict v, double a, double b, double *restrict mg,
                           double *restrict mf) {
    for (int64_t i = 0; i < n; i++) {
        mg[i] = -x[i] * (a * u[i] + b * v[i]);
        mf[i] = TWO_PI * x[i] * (b * u[i] - a * v[i]);
    }
}
