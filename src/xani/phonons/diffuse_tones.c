/* SPDX-License-Identifier: Apache-2.0
 * A change of the potential leaves positions and momenta as they were; from then on each is a
 * superposition of the new modes. With b_k the amplitude of new mode k at Q, and U, P the thermal
 * covariance of positions and momenta in the new modes,
 *
 *   I(t) = sum_kl Re(b_k b_l* U_kl) cos w_k t cos w_l t + Re(b_k b_l* P_kl) sin sin / (w_k w_l)
 *
 * whose products are sums and differences of tones. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/phonons/diffuse.h"
#include "xani/phonons/phonons.h"

static const double PI = 3.14159265358979323846;

/* Closer tones cannot be told apart in a microsecond. */
static const double SAME_TONE = 1e-6; /* THz */

/* What is worked on, all in one piece of memory. */
typedef struct room {
    int n;
    double *frequency;     /* [n] before */
    double *vectors;       /* [n][n][2] */
    double *new_frequency; /* [n] after */
    double *new_vectors;   /* [n][n][2] */
    double *amplitude;     /* [n][2] of the modes before, then of those after */
    double *overlap;       /* [n][n][2] <new k|old j> */
} room;

static sx_status make_room(int n, room *all) {
    const size_t one = (size_t)n, square = 2 * one * one;
    *all = (room){.n = n, .frequency = malloc((4 * one + 3 * square) * sizeof(double))};
    if (!all->frequency) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the tones of %d modes", n);
    }
    all->new_frequency = all->frequency + one;
    all->amplitude = all->new_frequency + one;
    all->vectors = all->amplitude + 2 * one;
    all->new_vectors = all->vectors + square;
    all->overlap = all->new_vectors + square;
    return SX_OK;
}

static bool stable(int n, const double *frequency) {
    for (int k = 0; k < n; k++) {
        if (!(frequency[k] > SXI_SLOWEST)) {
            return false;
        }
    }
    return true;
}

static void find_overlap(const room *all) {
    const int n = all->n;
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++) {
            const double *a = all->new_vectors + 2 * n * k, *b = all->vectors + 2 * n * j;
            double re = 0, im = 0;
            for (int i = 0; i < n; i++) {
                re += a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
                im += a[2 * i] * b[2 * i + 1] - a[2 * i + 1] * b[2 * i];
            }
            all->overlap[2 * (n * k + j)] = re;
            all->overlap[2 * (n * k + j) + 1] = im;
        }
    }
}

/* Re(b_k b_l* U_kl) and the same with P / (w_k w_l). */
static void covariance(const room *all, double temperature, int k, int l, double *position,
                       double *momentum) {
    const int n = all->n;
    double u[2] = {0, 0}, p[2] = {0, 0};
    for (int j = 0; j < n; j++) {
        const double *a = all->overlap + 2 * (n * k + j), *b = all->overlap + 2 * (n * l + j);
        const double omega = 2 * PI * all->frequency[j];
        const double size = sxi_thermal(omega, temperature);
        const double re = size * (a[0] * b[0] + a[1] * b[1]);
        const double im = size * (a[1] * b[0] - a[0] * b[1]);
        u[0] += re;
        u[1] += im;
        p[0] += omega * omega * re;
        p[1] += omega * omega * im;
    }
    const double *x = all->amplitude + 2 * k, *y = all->amplitude + 2 * l;
    const double re = x[0] * y[0] + x[1] * y[1], im = x[1] * y[0] - x[0] * y[1];
    const double omegas = 4 * PI * PI * all->new_frequency[k] * all->new_frequency[l];
    *position = re * u[0] - im * u[1];
    *momentum = (re * p[0] - im * p[1]) / omegas;
}

static void add_tone(double frequency, double amplitude, int k, int l, sx_tone_kind kind,
                     sx_diffuse *diffuse, sx_tone *tone) {
    if (frequency < SAME_TONE) {
        diffuse->mean += amplitude;
    } else {
        tone[diffuse->tones++] = (sx_tone){frequency, amplitude, k, l, kind};
    }
}

static void find_tones(const room *all, double temperature, sx_diffuse *diffuse, sx_tone *tone) {
    for (int k = 0; k < all->n; k++) {
        for (int l = k; l < all->n; l++) {
            const double low = all->new_frequency[k], high = all->new_frequency[l];
            double position = 0, momentum = 0;
            covariance(all, temperature, k, l, &position, &momentum);
            const double pairs = k == l ? 0.5 : 1; /* kl and lk */
            add_tone(high - low, pairs * (position + momentum), k, l, SX_TONE_DIFFERENCE, diffuse,
                     tone);
            add_tone(high + low, pairs * (position - momentum), k, l,
                     high - low < SAME_TONE ? SX_TONE_OVERTONE : SX_TONE_SUM, diffuse, tone);
        }
    }
}

static int by_frequency(const void *a, const void *b) {
    const sx_tone *x = a, *y = b;
    return (x->frequency > y->frequency) - (x->frequency < y->frequency);
}

static int by_size(const void *a, const void *b) {
    const double x = fabs(((const sx_tone *)a)->amplitude);
    const double y = fabs(((const sx_tone *)b)->amplitude);
    return x == y ? by_frequency(a, b) : (x < y) - (x > y);
}

/* Tones of degenerate modes: how each divides is chance, only their sum means anything. */
static void merge(sx_diffuse *diffuse, sx_tone *tone) {
    int kept = 0;
    double largest = 0; /* of those that were added to the last one kept */
    qsort(tone, (size_t)diffuse->tones, sizeof *tone, by_frequency);
    for (int n = 0; n < diffuse->tones; n++) {
        sx_tone *last = tone + kept - 1;
        if (kept > 0 && tone[n].frequency - last->frequency < SAME_TONE) {
            const double sum = last->amplitude + tone[n].amplitude;
            if (fabs(tone[n].amplitude) > largest) {
                largest = fabs(tone[n].amplitude);
                *last = tone[n];
            }
            last->amplitude = sum;
        } else {
            largest = fabs(tone[n].amplitude);
            tone[kept++] = tone[n];
        }
    }
    diffuse->tones = kept;
    qsort(tone, (size_t)kept, sizeof *tone, by_size);
}

static double thermal_intensity(const room *all, double temperature) {
    double sum = 0;
    for (int k = 0; k < all->n; k++) {
        const double *a = all->amplitude + 2 * k;
        sum += (a[0] * a[0] + a[1] * a[1]) * sxi_thermal(2 * PI * all->frequency[k], temperature);
    }
    return sum;
}

sx_status sx_diffuse_tones(const sx_phonons *before, const sx_phonons *after, const double hkl[3],
                           const double *f, double temperature, sx_diffuse *diffuse,
                           sx_tone *tone) {
    sx_status status = SX_OK;
    room all;
    if (before->atoms != after->atoms) {
        return SXI_FAIL(SX_ERR_SHAPE, "%d atoms after the change, %d before", after->atoms,
                        before->atoms);
    }
    SXI_TRY(make_room(3 * before->atoms, &all));
    sx_diffuse found = {.before = NAN, .mean = NAN};
    SXI_GO(sx_phonons_modes(before, hkl, all.frequency, all.vectors));
    SXI_GO(sx_phonons_modes(after, hkl, all.new_frequency, all.new_vectors));
    if (stable(all.n, all.frequency) && stable(all.n, all.new_frequency)) {
        sx_diffuse_amplitudes(before, hkl, f, all.vectors, all.amplitude);
        found.before = thermal_intensity(&all, temperature);
        found.mean = 0;
        find_overlap(&all);
        sx_diffuse_amplitudes(before, hkl, f, all.new_vectors, all.amplitude);
        find_tones(&all, temperature, &found, tone);
        merge(&found, tone);
    }
    *diffuse = found;
out:
    free(all.frequency);
    return status;
}
