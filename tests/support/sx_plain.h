/* SPDX-License-Identifier: Apache-2.0
 * Arrays as the simplest serial code has them, to compare distributed ones with. */
#ifndef SX_PLAIN_H
#define SX_PLAIN_H

#include <stdlib.h>
#include <string.h>

#include <sextant/darray.h>

#include "base/rng.h"
#include "sx_check.h"

typedef struct plain {
    sx_dtype dtype; /* F32 or F64 */
    int rank;
    int64_t shape[SX_MAX_RANK];
    double *v; /* in C order; as float rounds, if F32 */
} plain;

static inline int64_t plain_count(const plain *p) {
    int64_t count = 1;
    for (int d = 0; d < p->rank; d++) {
        count *= p->shape[d];
    }
    return count;
}

static inline plain plain_make(sx_dtype dtype, int rank, const int64_t *shape) {
    plain p = {.dtype = dtype, .rank = rank};
    for (int d = 0; d < rank; d++) {
        p.shape[d] = shape[d];
    }
    p.v = calloc((size_t)plain_count(&p) + 1, sizeof *p.v);
    ck_assert_ptr_nonnull(p.v);
    return p;
}

static inline void plain_free(plain *p) {
    free(p->v);
    *p = (plain){.v = NULL};
}

static inline plain plain_copy(const plain *p) {
    plain copy = plain_make(p->dtype, p->rank, p->shape);
    memcpy(copy.v, p->v, (size_t)plain_count(p) * sizeof *p->v);
    return copy;
}

static inline void plain_round(plain *p) {
    for (int64_t i = 0; p->dtype == SX_F32 && i < plain_count(p); i++) {
        p->v[i] = (double)(float)p->v[i];
    }
}

static inline plain plain_random(uint64_t seed, sx_dtype dtype, int rank, const int64_t *shape) {
    plain p = plain_make(dtype, rank, shape);
    for (int64_t i = 0; i < plain_count(&p); i++) {
        p.v[i] = sxi_rng_normal(seed, 7, (uint64_t)i);
    }
    plain_round(&p);
    return p;
}

/* The index of an element, and back. */
static inline void plain_index(const plain *p, int64_t i, int64_t *index) {
    for (int d = p->rank - 1; d >= 0; d--) {
        index[d] = i % p->shape[d];
        i /= p->shape[d];
    }
}

static inline int64_t plain_place(const plain *p, const int64_t *index) {
    int64_t i = 0;
    for (int d = 0; d < p->rank; d++) {
        i = i * p->shape[d] + index[d];
    }
    return i;
}

/* As numpy broadcasts; false: shapes do not go together. */
static inline bool plain_broadcast(const plain *a, const plain *b, plain *out) {
    int64_t shape[SX_MAX_RANK];
    const int rank = a->rank > b->rank ? a->rank : b->rank;
    for (int d = 0; d < rank; d++) {
        const int i = d - (rank - a->rank), j = d - (rank - b->rank);
        const int64_t x = i < 0 ? 1 : a->shape[i], y = j < 0 ? 1 : b->shape[j];
        if (x != y && x != 1 && y != 1) {
            return false;
        }
        shape[d] = x == 1 ? y : x;
    }
    *out = plain_make(a->dtype == SX_F32 && b->dtype == SX_F32 ? SX_F32 : SX_F64, rank, shape);
    return true;
}

static inline double plain_at(const plain *p, int rank, const int64_t *index) {
    int64_t mine[SX_MAX_RANK];
    for (int d = 0; d < p->rank; d++) {
        mine[d] = p->shape[d] == 1 ? 0 : index[d + rank - p->rank];
    }
    return p->v[plain_place(p, mine)];
}

static inline plain plain_view(const plain *p, const int64_t *start, const int64_t *stop) {
    int64_t shape[SX_MAX_RANK], index[SX_MAX_RANK];
    for (int d = 0; d < p->rank; d++) {
        shape[d] = stop[d] - start[d];
    }
    plain view = plain_make(p->dtype, p->rank, shape);
    for (int64_t i = 0; i < plain_count(&view); i++) {
        plain_index(&view, i, index);
        for (int d = 0; d < p->rank; d++) {
            index[d] += start[d];
        }
        view.v[i] = p->v[plain_place(p, index)];
    }
    return view;
}

/* The tree as it is defined: blocks of 64, and of several blocks the largest power of two that
 * leaves some, before the others. */
typedef struct plain_term {
    double n, sum, mean, squares, least, most;
} plain_term;

static inline plain_term plain_fold(const double *x, int64_t n) {
    plain_term t = {(double)n, x[0], x[0], x[0] - x[0], x[0], x[0]};
    if (n <= 64) {
        for (int64_t i = 1; i < n; i++) {
            const double d = x[i] - t.mean;
            t.sum += x[i];
            t.mean += d * (1.0 / (double)(i + 1));
            t.squares += d * (x[i] - t.mean);
            t.least = isnan(t.least) || isnan(x[i]) ? (double)NAN : fmin(t.least, x[i]);
            t.most = isnan(t.most) || isnan(x[i]) ? (double)NAN : fmax(t.most, x[i]);
        }
        return t;
    }
    int64_t half = 64;
    while (2 * half < n) {
        half *= 2;
    }
    const plain_term a = plain_fold(x, half), b = plain_fold(x + half, n - half);
    const double d = b.mean - a.mean;
    t.sum = a.sum + b.sum;
    t.mean = a.mean + d * (b.n / (a.n + b.n));
    t.squares = a.squares + b.squares + d * d * (a.n * b.n / (a.n + b.n));
    t.least = isnan(a.least) || isnan(b.least) ? (double)NAN : fmin(a.least, b.least);
    t.most = isnan(a.most) || isnan(b.most) ? (double)NAN : fmax(a.most, b.most);
    return t;
}

/* what: 0 sum, 1 mean, 2 variance, 3 min, 4 max */
static inline plain plain_reduce(const plain *p, int axis, int what) {
    int64_t shape[SX_MAX_RANK] = {0}, index[SX_MAX_RANK], whole[SX_MAX_RANK];
    for (int d = 0, e = 0; d < p->rank; d++) {
        if (d != axis) {
            shape[e++] = p->shape[d];
        }
    }
    plain out = plain_make(what > 2 ? p->dtype : SX_F64, p->rank - 1, shape);
    const int64_t n = p->shape[axis];
    double *line = malloc((size_t)n * sizeof *line);
    for (int64_t i = 0; i < plain_count(&out); i++) {
        plain_index(&out, i, index);
        for (int d = 0, e = 0; d < p->rank; d++) {
            whole[d] = d == axis ? 0 : index[e++];
        }
        for (whole[axis] = 0; whole[axis] < n; whole[axis]++) {
            line[whole[axis]] = p->v[plain_place(p, whole)];
        }
        const plain_term t = plain_fold(line, n);
        const double all[] = {t.sum, t.sum / (double)n,
                              n > 1 ? t.squares / (double)(n - 1) : (double)NAN, t.least, t.most};
        out.v[i] = all[what];
    }
    free(line);
    return out;
}

/* What was gathered has the same bits; any NaN is as good as another. */
static inline void plain_expect(const plain *p, const sx_array *array) {
    ck_assert_int_eq(array->dtype, p->dtype);
    ck_assert_int_eq(array->rank, p->rank);
    for (int d = 0; d < p->rank; d++) {
        ck_assert_int_eq(array->shape[d], p->shape[d]);
    }
    for (int64_t i = 0; i < plain_count(p); i++) {
        int64_t index[SX_MAX_RANK];
        plain_index(p, i, index);
        const double x = sx_array_get(array, index);
        if (memcmp(&x, &p->v[i], sizeof x) != 0 && !(isnan(x) && isnan(p->v[i]))) {
            ck_abort_msg("element %lld is %.17g, expected %.17g", (long long)i, x, p->v[i]);
        }
    }
}

static inline void plain_gathered(const plain *p, sx_darray *array) {
    sx_array all;
    ck_ok(sx_gather(array, &all));
    if (all.owned) { /* rank 0 */
        plain_expect(p, &all);
    }
    sx_array_destroy(&all);
}

/* As an array of this process, of its own type. */
static inline sx_array plain_array(const plain *p) {
    sx_array array;
    ck_ok(sx_array_create(p->dtype, p->rank, p->shape, &array));
    for (int64_t i = 0; i < plain_count(p); i++) {
        int64_t index[SX_MAX_RANK];
        plain_index(p, i, index);
        sx_array_set(&array, index, p->v[i]);
    }
    return array;
}

#endif
