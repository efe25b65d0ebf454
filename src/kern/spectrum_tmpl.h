/* SPDX-License-Identifier: Apache-2.0
 * The kernels of one instruction set, whose vectors hold PART floats: a row of all lanes is ROW
 * vectors, and each kernel goes through all rows with one of them, then with the next. (Vectors
 * wider than the machine's would live in memory.) The table of them is KERNELS, called KERNELS_NAME. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include "kern/spectrum.h"

enum { WIDTH = SXI_SPECTRUM_WIDTH, ROW = WIDTH / PART };

typedef float lanes __attribute__((vector_size(PART * sizeof(float)), may_alias));
typedef float loose __attribute__((vector_size(PART * sizeof(float)), aligned(4), may_alias));
typedef int32_t words __attribute__((vector_size(PART * sizeof(int32_t)), may_alias));
typedef uint32_t uwords __attribute__((vector_size(PART * sizeof(uint32_t)), may_alias));

#define INLINE TARGET static inline __attribute__((always_inline))

/* What is left when every factor 4 that leaves at least 3 is taken out: 3, 4, 6 or 8. */
static int64_t last_radix(int64_t length) {
    while (length > 8) {
        assert(length % 4 == 0);
        length /= 4;
    }
    return length;
}

/* --- into lanes --- */

/* Perfect shuffles of rows i and i + PART / 2, as often as it takes, transpose PART x PART. */
INLINE void interleave(const lanes *from, lanes *to) {
    for (int i = 0; i < PART / 2; i++) {
        to[2 * i] = __builtin_shufflevector(from[i], from[i + PART / 2], ZIP_LOW);
        to[2 * i + 1] = __builtin_shufflevector(from[i], from[i + PART / 2], ZIP_HIGH);
    }
}

INLINE void transpose(const float *const *row, int64_t i, lanes *out) {
    lanes a[PART], b[PART];
    for (int l = 0; l < PART; l++) {
        a[l] = *(const loose *)(const void *)(row[l] + i);
    }
    interleave(a, b);
    interleave(b, a);
#if PART > 4
    interleave(a, b);
#if PART > 8
    interleave(b, a);
#else
    for (int l = 0; l < PART; l++) {
        a[l] = b[l];
    }
#endif
#endif
    for (int l = 0; l < PART; l++) {
        out[l * ROW] = a[l];
    }
}

TARGET static void block(int64_t n, const float *const row[WIDTH], float *out) {
    int64_t i = 0;
    for (; i + PART <= n; i += PART) {
        for (int part = 0; part < ROW; part++) {
            transpose(row + part * PART, i, (lanes *)(void *)(out + i * WIDTH) + part);
        }
    }
    for (; i < n; i++) {
        for (int l = 0; l < WIDTH; l++) {
            out[i * WIDTH + l] = row[l][i];
        }
    }
}

/* --- the transform: decimation in frequency, radix 4, then 3, 4, 6 or 8 without twiddles --- */

typedef struct point {
    lanes re, im;
} point;

INLINE void take(const lanes *x, int64_t i, point *p) {
    p->re = x[2 * i * ROW];
    p->im = x[(2 * i + 1) * ROW];
}

INLINE void put(const point *p, int64_t i, lanes *x) {
    x[2 * i * ROW] = p->re;
    x[(2 * i + 1) * ROW] = p->im;
}

INLINE void times(point *x, float re, float im) {
    lanes t = x->re * re - x->im * im;
    x->im = x->re * im + x->im * re;
    x->re = t;
}

/* (a, b) -> (a + b, a - b) */
INLINE void sum_difference(point *a, point *b) {
    point s = {a->re + b->re, a->im + b->im}, d = {a->re - b->re, a->im - b->im};
    *a = s;
    *b = d;
}

/* (a, b) -> (a - i b, a + i b) */
INLINE void quarter(point *a, point *b) {
    point s = {a->re + b->im, a->im - b->re}, d = {a->re - b->im, a->im + b->re};
    *a = s;
    *b = d;
}

INLINE void butterfly4(point *a, point *b, point *c, point *d) {
    sum_difference(a, c);
    sum_difference(b, d);
    sum_difference(a, b); /* a: 0, b: 2 */
    quarter(c, d);        /* c: 1, d: 3 */
    point two = *b;
    *b = *c;
    *c = two;
}

INLINE void butterfly3(point *a, point *b, point *c) {
    const float half_root3 = 0.866025403784438646763723F;
    point s = {b->re + c->re, b->im + c->im};
    point d = {half_root3 * (b->re - c->re), half_root3 * (b->im - c->im)};
    point m = {a->re - 0.5F * s.re, a->im - 0.5F * s.im};
    a->re += s.re;
    a->im += s.im;
    *b = m;
    *c = d;
    quarter(b, c);
}

INLINE void last3(point *x) { butterfly3(&x[0], &x[1], &x[2]); }

INLINE void last4(point *x) { butterfly4(&x[0], &x[1], &x[2], &x[3]); }

INLINE void last6(point *x) {
    point even[3] = {x[0], x[1], x[2]}, odd[3] = {x[3], x[4], x[5]};
    for (int j = 0; j < 3; j++) {
        sum_difference(&even[j], &odd[j]);
    }
    times(&odd[1], 0.5F, -0.866025403784438646763723F);
    times(&odd[2], -0.5F, -0.866025403784438646763723F);
    butterfly3(&even[0], &even[1], &even[2]);
    butterfly3(&odd[0], &odd[1], &odd[2]);
    for (int j = 0; j < 3; j++) {
        x[2 * j] = even[j];
        x[2 * j + 1] = odd[j];
    }
}

INLINE void last8(point *x) {
    const float half_root2 = 0.707106781186547524400844F;
    for (int j = 0; j < 4; j++) {
        sum_difference(&x[j], &x[j + 4]);
    }
    times(&x[5], half_root2, -half_root2);
    point t = {x[6].im, -x[6].re};
    x[6] = t;
    times(&x[7], -half_root2, -half_root2);
    butterfly4(&x[0], &x[1], &x[2], &x[3]);
    butterfly4(&x[4], &x[5], &x[6], &x[7]);
    point y[8] = {x[0], x[4], x[1], x[5], x[2], x[6], x[3], x[7]};
    for (int j = 0; j < 8; j++) {
        x[j] = y[j];
    }
}

/* One stage on a part of 4 m points. */
INLINE void stage4(int64_t m, const float *w, lanes *x) {
    for (int64_t j = 0; j < m; j++, w += 6) {
        point a, b, c, d;
        take(x, j, &a);
        take(x, j + m, &b);
        take(x, j + 2 * m, &c);
        take(x, j + 3 * m, &d);
        butterfly4(&a, &b, &c, &d);
        times(&b, w[0], w[1]);
        times(&c, w[2], w[3]);
        times(&d, w[4], w[5]);
        put(&a, j, x);
        put(&b, j + m, x);
        put(&c, j + 2 * m, x);
        put(&d, j + 3 * m, x);
    }
}

/* What the first stage reads. */
typedef struct source {
    int64_t points, length;
    const float *weight;
    const lanes *y;
} source;

/* Point i as weight times sample, or 0; with what falls on it from beyond the length. */
INLINE void gather(const source *from, bool filled, bool folded, int64_t i, point *x) {
    if (!filled) {
        x->re = x->im = (lanes){0};
        return;
    }
    take(from->y, i, x);
    x->re *= from->weight[2 * i];
    x->im *= from->weight[2 * i + 1];
    for (i += from->length; folded && i < from->points; i += from->length) {
        point more;
        take(from->y, i, &more);
        x->re += from->weight[2 * i] * more.re;
        x->im += from->weight[2 * i + 1] * more.im;
    }
}

/* Butterflies first .. last - 1 of the first stage, of whose inputs only `filled` are not zero. */
INLINE void start4(const source *from, int filled, bool folded, int64_t first, int64_t last,
                   const float *twiddle, lanes *x) {
    const int64_t m = from->length / 4;
    const float *w = twiddle + 6 * first;
    for (int64_t j = first; j < last; j++, w += 6) {
        point a, b, c, d;
        gather(from, filled > 0, folded, j, &a);
        gather(from, filled > 1, folded, j + m, &b);
        gather(from, filled > 2, folded, j + 2 * m, &c);
        gather(from, filled > 3, folded, j + 3 * m, &d);
        butterfly4(&a, &b, &c, &d);
        times(&b, w[0], w[1]);
        times(&c, w[2], w[3]);
        times(&d, w[4], w[5]);
        put(&a, j, x);
        put(&b, j + m, x);
        put(&c, j + 2 * m, x);
        put(&d, j + 3 * m, x);
    }
}

/* Zeros behind the samples leave butterflies of `filled` inputs, and from some on of one less. */
INLINE void start(const source *from, const float *w, lanes *x) {
    const int64_t m = from->length / 4;
    int64_t filled = from->points / m, rest = from->points % m;
    if (filled >= 4) {
        filled = 4;
        rest = 0;
    }
    switch (filled) {
    case 0:
        start4(from, 1, false, 0, rest, w, x);
        start4(from, 0, false, rest, m, w, x);
        break;
    case 1:
        start4(from, 2, false, 0, rest, w, x);
        start4(from, 1, false, rest, m, w, x);
        break;
    case 2:
        start4(from, 3, false, 0, rest, w, x);
        start4(from, 2, false, rest, m, w, x);
        break;
    case 3:
        start4(from, 4, false, 0, rest, w, x);
        start4(from, 3, false, rest, m, w, x);
        break;
    default:
        start4(from, 4, true, 0, m, w, x);
    }
}

/* Parts of `radix` points, without twiddles. */
INLINE void last_stage(int64_t length, int radix, lanes *x, void (*last)(point *)) {
    for (int64_t i = 0; i < length; i += radix) {
        point p[8];
        for (int j = 0; j < radix; j++) {
            take(x, i + j, &p[j]);
        }
        last(p);
        for (int j = 0; j < radix; j++) {
            put(&p[j], i + j, x);
        }
    }
}

INLINE void transform_part(const sxi_spectrum_plan *plan, const source *from, lanes *x) {
    const float *w = plan->twiddle;
    const int64_t length = plan->length;
    if (length > 8) {
        start(from, w, x);
        w += 6 * (length / 4);
    } else {
        for (int64_t i = 0; i < length; i++) {
            point p;
            gather(from, i < from->points, true, i, &p);
            put(&p, i, x);
        }
    }
    for (int64_t part = length / 4; part > 8; part /= 4) {
        for (int64_t i = 0; i < length; i += part) {
            stage4(part / 4, w, x + 2 * i * ROW);
        }
        w += 6 * (part / 4);
    }
    switch (last_radix(length)) {
    case 3:
        last_stage(length, 3, x, last3);
        break;
    case 4:
        last_stage(length, 4, x, last4);
        break;
    case 6:
        last_stage(length, 6, x, last6);
        break;
    default:
        last_stage(length, 8, x, last8);
    }
}

TARGET static void transform(const sxi_spectrum_plan *plan, int64_t n, const float *weight,
                             const float *block, float *data) {
    for (int part = 0; part < ROW; part++) {
        const source from = {.points = n / 2,
                             .length = plan->length,
                             .weight = weight,
                             .y = (const lanes *)(const void *)block + part};
        transform_part(plan, &from, (lanes *)(void *)data + part);
    }
}

/* --- gains --- */

INLINE void put_gain(const float *form, const lanes *re, const lanes *im, lanes *gain) {
    *gain = (form[0] * *re + form[1] * *im) * *re + form[2] * *im * *im;
}

/* Bin k: its gain where there is a form, else itself. */
INLINE void put_bin(const float *form, int64_t k, const lanes *re, const lanes *im, lanes *out) {
    if (form) {
        put_gain(form + 3 * k, re, im, &out[k * ROW]);
    } else {
        out[2 * k * ROW] = *re;
        out[(2 * k + 1) * ROW] = *im;
    }
}

/* The real spectrum from the points a = k and b = length - k of the complex one, twice:
 * X(k) = (a + b*) - i exp(-i pi k / length) (a - b*), and X(length - k)* with the other sign. */
INLINE void bins_part(const sxi_spectrum_plan *plan, int64_t top, const float *form, const lanes *x,
                      lanes *out) {
    const int64_t length = plan->length;
    const lanes zero = {0};
    point a, b;
    take(x, 0, &a);
    lanes first = 2 * (a.re + a.im), final = 2 * (a.re - a.im);
    put_bin(form, 0, &first, &zero, out);
    if (top >= length) {
        put_bin(form, length, &final, &zero, out);
    }
    for (int64_t k = 1; k <= length / 2 && k <= top; k++) {
        take(x, plan->place[k], &a);
        take(x, plan->place[length - k], &b);
        float c = plan->turn[2 * k], s = plan->turn[2 * k + 1];
        lanes er = a.re + b.re, ei = a.im - b.im;
        lanes dr = a.re - b.re, di = a.im + b.im;
        lanes tr = s * dr - c * di, ti = c * dr + s * di; /* i W d */
        lanes re = er - tr, im = ei - ti;
        put_bin(form, k, &re, &im, out);
        if (length - k <= top) {
            lanes other_re = er + tr, other_im = -(ei + ti);
            put_bin(form, length - k, &other_re, &other_im, out);
        }
    }
}

TARGET static void gain(const sxi_spectrum_plan *plan, int64_t top, const float *form,
                        const float *data, float *out) {
    for (int part = 0; part < ROW; part++) {
        bins_part(plan, top, form, (const lanes *)(const void *)data + part,
                  (lanes *)(void *)out + part);
    }
}

TARGET static void bins(const sxi_spectrum_plan *plan, int64_t top, const float *data, float *out) {
    for (int part = 0; part < ROW; part++) {
        bins_part(plan, top, NULL, (const lanes *)(const void *)data + part,
                  (lanes *)(void *)out + part);
    }
}

/* first where which, else second. */
INLINE void choose(words which, const lanes *first, const lanes *second, lanes *out) {
    *out = (lanes)(((words)*first & which) | ((words)*second & ~which));
}

/* All sums are doubled, and the squares' once more by leaving the half of cos^2 = (1 + cos) / 2 away,
 * which cancels. over: 1 / sum of weights. */
INLINE void own_gain_part(int64_t length, int64_t top, const lanes *signal, const lanes *linear,
                          const lanes *square, const loose *over, lanes *out) {
    const lanes nothing = {0}, all = square[0];
    for (int64_t k = 0; k <= top; k++) {
        const bool back = 2 * k > length; /* the spectrum of squares is even about Nyquist */
        const lanes *turned = square + 2 * (back ? 2 * length - 2 * k : 2 * k) * ROW;
        lanes c = turned[0], s = back ? -turned[ROW] : turned[ROW];
        lanes a = linear[2 * k * ROW], b = linear[(2 * k + 1) * ROW];
        lanes x = signal[2 * k * ROW], y = signal[(2 * k + 1) * ROW];
        lanes cosines = all + c, sines = all - c;
        lanes uu = cosines - a * a * *over, uv = s - a * b * *over, vv = sines - b * b * *over;
        lanes determinant = uu * vv - uv * uv, trace = uu + vv;
        lanes two = (vv * x - 2 * uv * y) * x + uu * y * y, one = x * x + y * y;
        words both = determinant > 1e-4F * cosines * sines;
        words some = both | (trace > 2e-4F * all);
        choose(both, &two, &one, &two);
        choose(both, &determinant, &trace, &determinant);
        two /= determinant;
        choose(some, &two, &nothing, &out[k * ROW]);
    }
}

TARGET static void own_gain(int64_t length, int64_t top, const float *signal, const float *linear,
                            const float *square, const float over[WIDTH], float *out) {
    for (int part = 0; part < ROW; part++) {
        own_gain_part(length, top, (const lanes *)(const void *)signal + part,
                      (const lanes *)(const void *)linear + part,
                      (const lanes *)(const void *)square + part,
                      (const loose *)(const void *)over + part, (lanes *)(void *)out + part);
    }
}

/* a where it is larger than b, else b (also where either is NaN). */
INLINE void larger(const lanes *a, const lanes *b, lanes *out) {
    words which = *a > *b;
    *out = (lanes)(((words)*a & which) | ((words)*b & ~which));
}

/* Four maxima, as a chain of one would wait for itself. */
INLINE void most_part(int64_t first, int64_t last, const lanes *from, loose *out) {
    lanes best[4] = {{0}};
    best[0] = *out;
    int64_t k = first;
    for (; k + 3 <= last; k += 4) {
        for (int j = 0; j < 4; j++) {
            larger(&from[(k + j) * ROW], &best[j], &best[j]);
        }
    }
    for (; k <= last; k++) {
        larger(&from[k * ROW], &best[0], &best[0]);
    }
    larger(&best[1], &best[0], &best[0]);
    larger(&best[3], &best[2], &best[2]);
    larger(&best[2], &best[0], &best[0]);
    *out = best[0];
}

TARGET static void most(int64_t first, int64_t last, const float *gains, float largest[WIDTH]) {
    for (int part = 0; part < ROW; part++) {
        most_part(first, last, (const lanes *)(const void *)gains + part,
                  (loose *)(void *)largest + part);
    }
}

/* (a, b) -> (larger, smaller); NaN as smaller. */
INLINE void order(lanes *a, lanes *b) {
    words which = *a > *b;
    lanes most = (lanes)(((words)*a & which) | ((words)*b & ~which));
    *b = (lanes)(((words)*b & which) | ((words)*a & ~which));
    *a = most;
}

/* Merge exchange sort (Batcher 1968), largest first. */
INLINE void sort(int count, lanes *value) {
    for (int p = count / 2; p > 0; p /= 2) {
        int r = 0, d = p;
        for (int q = count / 2; q >= p; d = q - p, q /= 2, r = p) {
            for (int i = 0; i < count - d; i++) {
                if ((i & p) == r) {
                    order(&value[i], &value[i + d]);
                }
            }
        }
    }
}

INLINE void crowd_part(int64_t first, int64_t last, const lanes *here, loose *least) {
    enum { STRETCHES = 16 };
    const int64_t stretch = (last - first + 1) / STRETCHES;
    lanes most[STRETCHES] = {{0}}, bound = *least;
    for (int64_t i = 0; i < stretch; i++) {
        for (int64_t s = 0; s < STRETCHES; s++) {
            larger(&here[(first + s * stretch + i) * ROW], &most[s], &most[s]);
        }
    }
    sort(STRETCHES, most);
    larger(&most[SXI_SPECTRUM_CROWD - 1], &bound, &bound);
    *least = bound;
}

TARGET static void crowd(int64_t first, int64_t last, const float *gains, float least[WIDTH]) {
    for (int part = 0; part < ROW; part++) {
        crowd_part(first, last, (const lanes *)(const void *)gains + part,
                   (loose *)(void *)least + part);
    }
}

/* Signs tell: comparisons of vectors are slow in GCC 12 unless they choose between two. */
INLINE void peaks_part(int64_t first, int64_t last, const lanes *from, const loose *least,
                       words *out) {
    const lanes bound = *least, nothing = {0};
    lanes before = nothing, here = from[first * ROW];
    for (int64_t k = first; k <= last; out += ROW) {
        words bits = {0};
        for (int j = 0; j < 32 && k <= last; j++, k++) {
            lanes next = nothing;
            if (k < last) {
                next = from[(k + 1) * ROW];
            }
            words low = (words)(before - here), high = ~(words)(here - next);
            words enough = ~(words)(here - bound);
            bits |= (words)((uwords)(low & high & enough) >> (31 - j) & (UINT32_C(1) << j));
            before = here;
            here = next;
        }
        *out = bits;
    }
}

TARGET static void peaks(int64_t first, int64_t last, const float *gains, const float least[WIDTH],
                         uint32_t *mask) {
    for (int part = 0; part < ROW; part++) {
        peaks_part(first, last, (const lanes *)(const void *)gains + part,
                   (const loose *)(const void *)least + part, (words *)(void *)mask + part);
    }
}

const sxi_spectrum_kernels KERNELS = {
    .name = KERNELS_NAME,
    .block = block,
    .transform = transform,
    .gain = gain,
    .bins = bins,
    .own_gain = own_gain,
    .most = most,
    .crowd = crowd,
    .peaks = peaks,
};
