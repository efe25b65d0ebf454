/* SPDX-License-Identifier: Apache-2.0
 * Adding shots. First every frame is looked at: the largest value, and whether any is missing. Then
 * threads share blocks of pixels, and in each block the shots of a slot follow each other while its
 * sums are in the cache. Whole numbers are added, so that no order changes a bit. */
#include "xani/reduce/reducer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/kern.h"

/* Pixels of a block: its three sums take 96 kB. */
enum { BLOCK = 4096 };

/* Adding this to a double below 2^51 leaves it, rounded to the nearest whole number, in the lowest
 * bits: a conversion to int64 that vectors of any processor can do. */
static const double ROUND = 0x1.8p52;
static const double ROUND_MOST = 0x1p51;

/* One shot of a call. */
typedef struct shot {
    int64_t slot; /* -1: left out */
    const void *frame;
    double most;      /* largest |x|, not scaled, of good pixels with a value */
    int64_t missing;  /* good pixels without */
    double i0;        /* scaled */
    int64_t i, ii, t; /* what it adds to the slot */
} shot;

/* Parts of a call. */
typedef struct call {
    sx_reducer *reducer;
    sx_dtype dtype; /* of the frames: F32, F64 or U16 */
    int64_t count;
    shot *shots;
    int64_t *order; /* [count] by slot */
} call;

/* Beyond it lies only infinity, and NaN compares as false. */
static const double LARGEST = 1.7976931348623157e308;

static int64_t whole(double value) { return llrint(value); }

/* --- looking --- */

/* 2 |x| is finite only if x is; a select instead of a branch lets vectors do it. */
#define DEFINE_LOOK(type)                                                                          \
    SXI_CLONES static void look_##type(const type *x, const uint8_t *mask, int64_t n, shot *s) {   \
        double most = 0;                                                                           \
        int64_t missing = 0;                                                                       \
        for (int64_t p = 0; p < n; p++) {                                                          \
            const double size = mask[p] ? 0 : fabs((double)x[p]);                                  \
            const bool known = size <= LARGEST;                                                    \
            missing += !known;                                                                     \
            most = known && size > most ? size : most;                                             \
        }                                                                                          \
        s->most = most;                                                                            \
        s->missing = missing;                                                                      \
    }

DEFINE_LOOK(float)
DEFINE_LOOK(double)

SXI_CLONES static void look_uint16_t(const uint16_t *x, const uint8_t *mask, int64_t n, shot *s) {
    unsigned most = 0;
    for (int64_t p = 0; p < n; p++) {
        const unsigned value = mask[p] ? 0 : x[p];
        most = value > most ? value : most;
    }
    s->most = (double)most;
    s->missing = 0;
}

/* Whether sums take a pixel of that size in a shot of that (scaled) I0. */
static bool is_small(const sx_reducer *r, double most, double i0) {
    const double x = most / r->scale, i = fabs(i0);
    return x / SXI_QUANTUM_X < ROUND_MOST && x * x / SXI_QUANTUM_2 < ROUND_MOST &&
           x * i / SXI_QUANTUM_2 < ROUND_MOST && i / SXI_QUANTUM_I0 < ROUND_MOST &&
           i * i / SXI_QUANTUM_2 < ROUND_MOST;
}

/* Looking costs as much as adding does, and a count has its bound. */
static void bound_uint16_t(const sx_reducer *r, shot *s) {
    s->most = UINT16_MAX;
    s->missing = 0;
    if (!is_small(r, s->most, s->i0)) {
        look_uint16_t(s->frame, r->mask, r->pixels, s);
    }
}

static void look(const call *c, shot *s) {
    const sx_reducer *r = c->reducer;
    if (c->dtype == SX_F32) {
        look_float(s->frame, r->mask, r->pixels, s);
    } else if (c->dtype == SX_F64) {
        look_double(s->frame, r->mask, r->pixels, s);
    } else {
        bound_uint16_t(r, s);
    }
}

/* --- adding a block --- */

static int64_t bits_of(double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Unsigned, because masked pixels may hold anything and overflow. */
#define DEFINE_ADD(type)                                                                           \
    SXI_CLONES static void add_##type(const type *x, int64_t n, double scale, double i0,           \
                                      uint64_t *sum_x, uint64_t *sum_xx, uint64_t *sum_xi) {       \
        const uint64_t zero = (uint64_t)bits_of(ROUND);                                            \
        const double i = i0 / SXI_QUANTUM_2;                                                       \
        for (int64_t p = 0; p < n; p++) {                                                          \
            const double v = (double)x[p] * scale;                                                 \
            sum_x[p] += (uint64_t)bits_of(v / SXI_QUANTUM_X + ROUND) - zero;                       \
            sum_xx[p] += (uint64_t)bits_of(v * v / SXI_QUANTUM_2 + ROUND) - zero;                  \
            sum_xi[p] += (uint64_t)bits_of(v * i + ROUND) - zero;                                  \
        }                                                                                          \
    }                                                                                              \
    /* Where values are missing. */                                                                \
    static void lose_##type(const type *x, int64_t n, const uint8_t *mask, double scale,           \
                            const shot *s, sxi_slot *slot, int64_t p0) {                           \
        for (int64_t p = 0; p < n; p++) {                                                          \
            if (mask[p]) {                                                                         \
                continue;                                                                          \
            }                                                                                      \
            if (fabs((double)x[p]) <= LARGEST) {                                                   \
                const double v = (double)x[p] * scale;                                             \
                slot->sum[SXI_X][p0 + p] += bits_of(v / SXI_QUANTUM_X + ROUND) - bits_of(ROUND);   \
                slot->sum[SXI_XX][p0 + p] +=                                                       \
                    bits_of(v * v / SXI_QUANTUM_2 + ROUND) - bits_of(ROUND);                       \
                slot->sum[SXI_XI][p0 + p] +=                                                       \
                    bits_of(v * (s->i0 / SXI_QUANTUM_2) + ROUND) - bits_of(ROUND);                 \
            } else {                                                                               \
                slot->lost[SXI_LOST_N][p0 + p] += 1;                                               \
                slot->lost[SXI_LOST_I][p0 + p] += s->i;                                            \
                slot->lost[SXI_LOST_II][p0 + p] += s->ii;                                          \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_ADD(float)
DEFINE_ADD(double)
DEFINE_ADD(uint16_t)

/* Of counts, x and x^2 are whole numbers before they are scaled, by powers of two: the shots of a slot are
 * added up in small sums, which stay in the nearest cache, and these are shifted into place. The same
 * bits as add_uint16_t. n <= TILE, m <= GROUP. */
enum { TILE = 1024, GROUP = 4096 };

typedef struct shifts {
    bool whole; /* x and x^2 are whole numbers of their quanta */
    int x, xx;
} shifts;

static shifts shifts_of(double scale) {
    int exponent = 0;
    const bool power = frexp(scale, &exponent) == 0.5;
    const int log2_scale = exponent - 1;
    return (shifts){power && log2_scale <= 6 && log2_scale >= -16, 16 - log2_scale,
                    12 - 2 * log2_scale};
}

SXI_CLONES static void add_group(const shot *const *shots, int64_t m, int64_t p0, int64_t n,
                                 double inverse_scale, shifts by, uint64_t *sum_x, uint64_t *sum_xx,
                                 uint64_t *sum_xi) {
    const uint64_t zero = (uint64_t)bits_of(ROUND);
    uint32_t tile_x[TILE];
    uint64_t tile_xx[TILE];
    memset(tile_x, 0, (size_t)n * sizeof *tile_x);
    memset(tile_xx, 0, (size_t)n * sizeof *tile_xx);
    for (int64_t k = 0; k < m; k++) {
        const uint16_t *x = (const uint16_t *)shots[k]->frame + p0;
        const double i = shots[k]->i0 / SXI_QUANTUM_2 * inverse_scale;
        for (int64_t p = 0; p < n; p++) {
            const uint32_t v = x[p];
            tile_x[p] += v;
            tile_xx[p] += (uint64_t)(v * v);
            sum_xi[p] += (uint64_t)bits_of((double)(int32_t)v * i + ROUND) - zero;
        }
    }
    for (int64_t p = 0; p < n; p++) {
        sum_x[p] += (uint64_t)tile_x[p] << by.x;
        sum_xx[p] += tile_xx[p] << by.xx;
    }
}

static void add_counts(const call *c, int64_t first, int64_t end, int64_t p0, int64_t n,
                       shifts by) {
    const sx_reducer *r = c->reducer;
    const shot *shots[GROUP];
    int64_t m = 0;
    for (int64_t k = first; k < end; k++) {
        shots[m++] = &c->shots[c->order[k]];
        if (m < GROUP && k + 1 < end) {
            continue;
        }
        sxi_slot *slot = &r->slot[shots[0]->slot];
        for (int64_t t = p0; t < p0 + n; t += TILE) {
            const int64_t left = p0 + n - t;
            add_group(shots, m, t, left < TILE ? left : TILE, 1 / r->scale, by,
                      (uint64_t *)slot->sum[SXI_X] + t, (uint64_t *)slot->sum[SXI_XX] + t,
                      (uint64_t *)slot->sum[SXI_XI] + t);
        }
        m = 0;
    }
}

#define ADD_BLOCK(type)                                                                            \
    do {                                                                                           \
        const type *x = (const type *)s->frame + p0;                                               \
        if (s->missing == 0) {                                                                     \
            add_##type(x, n, scale, s->i0, (uint64_t *)slot->sum[SXI_X] + p0,                      \
                       (uint64_t *)slot->sum[SXI_XX] + p0, (uint64_t *)slot->sum[SXI_XI] + p0);    \
        } else {                                                                                   \
            lose_##type(x, n, c->reducer->mask + p0, scale, s, slot, p0);                          \
        }                                                                                          \
    } while (0)

static void clear_masked(const sx_reducer *r, sxi_slot *slot, int64_t p0, int64_t n) {
    if (!memchr(r->mask + p0, 1, (size_t)n)) {
        return;
    }
    for (int k = 0; k < SXI_SUMS; k++) {
        for (int64_t p = p0; p < p0 + n; p++) {
            slot->sum[k][p] = r->mask[p] ? 0 : slot->sum[k][p];
        }
    }
}

/* One after the other, whatever they hold. */
static void add_values(const call *c, int64_t first, int64_t end, int64_t p0, int64_t n) {
    const double scale = 1 / c->reducer->scale;
    for (int64_t k = first; k < end; k++) {
        const shot *s = &c->shots[c->order[k]];
        sxi_slot *slot = &c->reducer->slot[s->slot];
        if (c->dtype == SX_F32) {
            ADD_BLOCK(float);
        } else if (c->dtype == SX_F64) {
            ADD_BLOCK(double);
        } else {
            ADD_BLOCK(uint16_t);
        }
    }
}

/* All shots of a slot, then those of the next. */
static void add_block(const call *c, int64_t p0) {
    const sx_reducer *r = c->reducer;
    const shifts by = shifts_of(r->scale);
    const int64_t n = r->pixels - p0 < BLOCK ? r->pixels - p0 : BLOCK;
    int64_t end = 0;
    for (int64_t first = 0; first < c->count; first = end) {
        const int64_t slot = c->shots[c->order[first]].slot;
        for (end = first + 1; end < c->count && c->shots[c->order[end]].slot == slot; end++) {
        }
        if (slot < 0) {
            continue;
        }
        if (c->dtype == SX_U16 && by.whole) {
            add_counts(c, first, end, p0, n, by);
        } else {
            add_values(c, first, end, p0, n);
        }
        clear_masked(r, &c->reducer->slot[slot], p0, n);
    }
}

/* --- one call --- */

static sx_status check_value(const sx_reducer *r, const shot *s, const sx_shot *given) {
    if (is_small(r, s->most, s->i0)) {
        return SX_OK;
    }
    return SXI_FAIL(SX_ERR_RANGE,
                    "a pixel of %g in a shot with I0 %g is too large for sums at scale %g and %g: "
                    "mask what is no measurement, or give larger scales",
                    s->most, given->i0, r->scale, r->i0_scale);
}

static void place_shot(const sx_reducer *r, const sx_shot *given, shot *s) {
    const bool timed = given->on || r->off == SX_REDUCE_OFF_BINNED;
    s->slot = -1;
    if (!isfinite(given->i0) || (timed && !isfinite(given->delay_ps))) {
        s->slot = -2;
        return;
    }
    s->i0 = given->i0 / r->i0_scale;
    s->slot = sxi_reducer_slot(r, given);
}

/* The scalars of a slot and the bounds of its sums, shot after shot: after a failure those of the
 * shots before it must be taken back. */
static sx_status book(const call *c, const sx_shot *given) {
    sx_reducer *r = c->reducer;
    for (int64_t k = 0; k < c->count; k++) {
        shot *s = &c->shots[k];
        if (s->slot < 0) {
            continue;
        }
        SXI_TRY(check_value(r, s, &given[k]));
        const double delay = given[k].on || r->off == SX_REDUCE_OFF_BINNED ? given[k].delay_ps : 0;
        const double x = s->most / r->scale;
        const double more[SXI_SUMS] = {x / SXI_QUANTUM_X + 1, x * x / SXI_QUANTUM_2 + 1,
                                       x * fabs(s->i0) / SXI_QUANTUM_2 + 1};
        sxi_slot *slot = &r->slot[s->slot];
        s->i = whole(s->i0 / SXI_QUANTUM_I0);
        s->ii = whole(s->i0 * s->i0 / SXI_QUANTUM_2);
        if (!(fabs(delay) < 0x1p38)) {
            return SXI_FAIL(SX_ERR_RANGE, "a delay of %g ps is too long for a sum", delay);
        }
        s->t = whole(delay / SXI_QUANTUM_T);
        if (!sxi_add_checked(&slot->i, s->i) || !sxi_add_checked(&slot->ii, s->ii) ||
            !sxi_add_checked(&slot->t, s->t) || !sxi_slot_room(r, slot, more)) {
            return SXI_FAIL(SX_ERR_RANGE,
                            "the sums of %lld shots are full: a larger scale of pixels (%g) or I0 "
                            "(%g) is needed",
                            (long long)slot->n, r->scale, r->i0_scale);
        }
        slot->n++;
        r->missing += s->missing;
        if (s->missing > 0) {
            SXI_TRY(sxi_slot_lose(r, slot));
        }
    }
    return SX_OK;
}

/* Books all shots or none. Bounds that were measured anew stay so. */
static sx_status book_all(const call *c, const sx_shot *given) {
    sx_reducer *r = c->reducer;
    sxi_slot *before = malloc((size_t)r->slots * sizeof *before);
    const int64_t missing = r->missing;
    if (!before) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to add shots");
    }
    memcpy(before, r->slot, (size_t)r->slots * sizeof *before);
    const sx_status status = book(c, given);
    for (int64_t s = 0; status != SX_OK && s < r->slots; s++) {
        memcpy(before[s].lost, r->slot[s].lost, sizeof before[s].lost);
        r->slot[s] = before[s];
        r->missing = missing;
    }
    free(before);
    return status;
}

/* By slot, the rest as they came: counting keeps it linear in shots. */
static sx_status sort_shots(call *c) {
    const int64_t slots = c->reducer->slots;
    int64_t *first = calloc((size_t)slots + 3, sizeof *first);
    if (!first) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to add shots");
    }
    for (int64_t k = 0; k < c->count; k++) {
        first[c->shots[k].slot + 3]++;
    }
    for (int64_t s = 0; s < slots + 2; s++) {
        first[s + 1] += first[s];
    }
    for (int64_t k = 0; k < c->count; k++) {
        c->order[first[c->shots[k].slot + 2]++] = k;
    }
    free(first);
    return SX_OK;
}

static sx_status add_shots(call *c, const sx_shot *given, const sx_context *context) {
    sx_reducer *r = c->reducer;
    const int64_t blocks = (r->pixels + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(sx_threads(context)) schedule(dynamic) if (c->count > 1)
    for (int64_t k = 0; k < c->count; k++) {
        place_shot(r, &given[k], &c->shots[k]);
        if (c->shots[k].slot >= 0) {
            look(c, &c->shots[k]);
        }
    }
    SXI_TRY(sort_shots(c));
    SXI_TRY(book_all(c, given));
    for (int64_t k = 0; k < c->count; k++) {
        r->not_known += c->shots[k].slot == -2;
        r->outside += c->shots[k].slot == -1;
    }
#pragma omp parallel for num_threads(sx_threads(context))                                          \
    schedule(dynamic) if (c->count > 1 && blocks > 1)
    for (int64_t b = 0; b < blocks; b++) {
        add_block(c, b * BLOCK);
    }
    return SX_OK;
}

/* Frames as one of the three types that are added without a copy. */
static sx_status take_frames(const sx_array *frames, sx_array *copy, const sx_array **taken) {
    *taken = frames;
    if (sx_array_contiguous(frames) &&
        (frames->dtype == SX_F32 || frames->dtype == SX_F64 || frames->dtype == SX_U16)) {
        return SX_OK;
    }
    SXI_TRY(sx_array_create(SX_F64, frames->rank, frames->shape, copy));
    *taken = copy;
    return sx_array_copy(frames, copy);
}

sx_status sxi_reducer_add_at(sx_reducer *r, sx_dtype dtype, int64_t count,
                             const void *const *frames, const sx_shot *shots,
                             const sx_context *context) {
    sx_status status = SX_OK;
    call c = {.reducer = r, .count = count, .dtype = dtype};
    if (count == 0) {
        return SX_OK;
    }
    c.shots = calloc((size_t)count, sizeof *c.shots);
    c.order = calloc((size_t)count, sizeof *c.order);
    if (!c.shots || !c.order) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory to add %lld shots", (long long)count);
        goto out;
    }
    for (int64_t k = 0; k < count; k++) {
        c.shots[k].frame = frames[k];
    }
    SXI_GO(add_shots(&c, shots, context));
out:
    free(c.shots);
    free(c.order);
    return status;
}

static sx_status add_frames(sx_reducer *r, const sx_array *frames, int64_t count,
                            const sx_shot *shots, const sx_context *context) {
    sx_status status = SX_OK;
    sx_array copy = {0};
    const sx_array *taken = NULL;
    const void **each = malloc((size_t)(count ? count : 1) * sizeof *each);
    if (!each) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to add %lld shots", (long long)count);
    }
    SXI_GO(take_frames(frames, &copy, &taken));
    for (int64_t k = 0; k < count; k++) {
        each[k] = (const char *)taken->data + (size_t)(k * r->pixels) * sx_dtype_size(taken->dtype);
    }
    SXI_GO(sxi_reducer_add_at(r, taken->dtype, count, each, shots, context));
out:
    sx_array_destroy(&copy);
    free(each);
    return status;
}

static sx_status check_shape(const sx_reducer *r, const sx_array *frames, int ahead) {
    bool same = frames->rank == r->rank + ahead;
    for (int d = 0; same && d < r->rank; d++) {
        same = frames->shape[d + ahead] == r->shape[d];
    }
    return same
               ? SX_OK
               : SXI_FAIL(SX_ERR_SHAPE,
                          "a frame of %d axes does not have the shape of the reducer, %d axes with "
                          "%lld pixels",
                          frames->rank - ahead, r->rank, (long long)r->pixels);
}

sx_status sx_reducer_add(sx_reducer *r, const sx_array *frame, double i0, double delay_ps,
                         bool on) {
    const sx_context alone = {.threads = 1};
    const sx_shot one = {.i0 = i0, .delay_ps = delay_ps, .on = on};
    SXI_TRY(check_shape(r, frame, 0));
    return add_frames(r, frame, 1, &one, &alone);
}

sx_status sx_reducer_add_many(sx_reducer *r, const sx_array *frames, const sx_shot *shots,
                              const sx_context *context) {
    SXI_TRY(check_shape(r, frames, 1));
    return add_frames(r, frames, frames->shape[0], shots, context);
}
