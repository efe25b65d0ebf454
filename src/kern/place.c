/* SPDX-License-Identifier: Apache-2.0 */
#include "kern/place.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kern/convert.h"
#include "kern/raw.h"
#include "kern/transpose.h"

typedef struct axis {
    int64_t count;
    int64_t source;
    int64_t target;
} axis;

/* Loops over the outer axes, and what is done with the inner ones. */
typedef struct plan plan;
typedef void (*inner_fn)(const plan *p, const char *source, char *target);
struct plan {
    int outer; /* axes that are looped over, from the first */
    inner_fn inner;
    int rank;
    axis axis[SXI_PLACE_RANK]; /* by falling stride of the target, none negative */
    sxi_convert convert;
};

bool sxi_place_known(const sxi_place_type *source, const sxi_place_type *target) {
    sxi_convert convert;
    return sxi_convert_find(source, target, &convert);
}

/* --- simplification ----------------------------------------------------------------------- */

static int by_target(const void *a, const void *b) {
    const axis *x = a, *y = b;
    if (x->target != y->target) {
        return x->target > y->target ? -1 : 1;
    }
    return (x->source < y->source) - (x->source > y->source);
}

/* Takes the axes of the box with more than one element, walked so that the target rises. Returns
 * false if the box is empty. */
static bool take_axes(plan *p, const sxi_place_box *box, const char **source, char **target) {
    p->rank = 0;
    for (int d = 0; d < box->rank; d++) {
        axis a = {box->count[d], box->source_stride[d], box->target_stride[d]};
        if (a.count <= 0) {
            return false;
        }
        if (a.count == 1) {
            continue;
        }
        if (a.target < 0) {
            *source += (a.count - 1) * a.source;
            *target += (a.count - 1) * a.target;
            a.source = -a.source;
            a.target = -a.target;
        }
        p->axis[p->rank++] = a;
    }
    qsort(p->axis, (size_t)p->rank, sizeof *p->axis, by_target);
    return true;
}

/* Two axes are one where a step of the outer is a full turn of the inner, on both sides. */
static void merge_axes(plan *p) {
    int rank = 0;
    for (int d = 0; d < p->rank; d++) {
        const axis *inner = &p->axis[d];
        axis *outer = rank ? &p->axis[rank - 1] : NULL;
        if (outer && outer->source == inner->source * inner->count &&
            outer->target == inner->target * inner->count) {
            outer->count *= inner->count;
            outer->source = inner->source;
            outer->target = inner->target;
        } else {
            p->axis[rank++] = *inner;
        }
    }
    p->rank = rank;
}

/* --- rows --------------------------------------------------------------------------------- */

#define MOVE(type)                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                              \
        *(sxi_raw_##type *)(target + i * to) = *(const sxi_raw_##type *)(source + i * from);       \
    }                                                                                              \
    break;

/* Moves n values of so many bytes at any stride. */
static void move(int64_t n, int64_t bytes, const char *source, int64_t from, char *target,
                 int64_t to) {
    switch (bytes) {
    case 1:
        MOVE(U8)
    case 2:
        MOVE(U16)
    case 4:
        MOVE(U32)
    case 8:
        MOVE(U64)
    default:
        for (int64_t i = 0; i < n; i++) {
            memcpy(target + i * to, source + i * from, (size_t)bytes);
        }
    }
}

/* Both sides without gaps. */
static void row(const plan *p, const char *source, char *target) {
    sxi_convert_row(&p->convert, p->axis[p->rank - 1].count, source, target);
}

static void one(const plan *p, const char *source, char *target) {
    sxi_convert_row(&p->convert, 1, source, target);
}

static void row_moved(const plan *p, const char *source, char *target) {
    const axis *a = &p->axis[p->rank - 1];
    move(a->count, p->convert.source_bytes, source, a->source, target, a->target);
}

enum { PIECE = 256 };

/* Gathers, converts, scatters. Values that are converted have at most 8 bytes. */
static void row_converted(const plan *p, const char *source, char *target) {
    const axis *a = &p->axis[p->rank - 1];
    const int64_t from = p->convert.source_bytes, to = p->convert.target_bytes;
    uint64_t gathered[PIECE], converted[PIECE];
    for (int64_t i = 0; i < a->count; i += PIECE) {
        const int64_t n = a->count - i < PIECE ? a->count - i : PIECE;
        move(n, from, source + i * a->source, a->source, (char *)gathered, from);
        sxi_convert_row(&p->convert, n, gathered, converted);
        move(n, to, (const char *)converted, to, target + i * a->target, a->target);
    }
}

/* --- transpositions ------------------------------------------------------------------------ */

/* The last two axes: one without gaps in the source, then one without gaps in the target. Here they
 * are the columns and the rows of the source. */
static void transposed(const plan *p, const char *source, char *target) {
    const axis *columns = &p->axis[p->rank - 2], *rows = &p->axis[p->rank - 1];
    sxi_transpose(p->convert.source_bytes, rows->count, columns->count, source, rows->source,
                  target, columns->target);
}

/* Converts as many rows as fill a line of the cache in the target, then transposes those. */
enum { LINE = 64, COLUMNS = 512 };

static void transposed_converted(const plan *p, const char *source, char *target) {
    const axis *columns = &p->axis[p->rank - 2], *rows = &p->axis[p->rank - 1];
    const int64_t from = p->convert.source_bytes, to = p->convert.target_bytes;
    const int64_t height = LINE / to;
    char block[LINE * COLUMNS];
    for (int64_t c = 0; c < columns->count; c += COLUMNS) {
        const int64_t n = columns->count - c < COLUMNS ? columns->count - c : COLUMNS;
        for (int64_t r = 0; r < rows->count; r += height) {
            const int64_t m = rows->count - r < height ? rows->count - r : height;
            for (int64_t i = 0; i < m; i++) {
                sxi_convert_row(&p->convert, n, source + (r + i) * rows->source + c * from,
                                block + i * COLUMNS * to);
            }
            sxi_transpose(to, m, n, block, COLUMNS * to, target + c * columns->target + r * to,
                          columns->target);
        }
    }
}

/* Puts the axis without gaps in the source before the last. False if there is none. */
static bool pair_axes(plan *p) {
    const int last = p->rank - 1;
    int column = 0;
    while (column < last && p->axis[column].source != p->convert.source_bytes) {
        column++;
    }
    if (column == last) {
        return false;
    }
    const axis columns = p->axis[column];
    memmove(&p->axis[column], &p->axis[column + 1], (size_t)(last - 1 - column) * sizeof *p->axis);
    p->axis[last - 1] = columns;
    return true;
}

static bool is_power_to_8(int64_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* --- dispatch ----------------------------------------------------------------------------- */

static void choose_inner(plan *p) {
    const sxi_convert *convert = &p->convert;
    const bool copied = !convert->order && !convert->value;
    const axis *last = p->rank ? &p->axis[p->rank - 1] : NULL;
    p->outer = p->rank - (last != NULL);
    if (!last) {
        p->inner = one;
    } else if (last->source == convert->source_bytes && last->target == convert->target_bytes) {
        p->inner = row;
    } else if (last->target == convert->target_bytes && is_power_to_8(convert->target_bytes) &&
               pair_axes(p)) {
        p->outer--;
        p->inner = copied ? transposed : transposed_converted;
    } else {
        p->inner = copied ? row_moved : row_converted;
    }
}

static void walk(const plan *p, int depth, const char *source, char *target) {
    if (depth == p->outer) {
        p->inner(p, source, target);
        return;
    }
    const axis *a = &p->axis[depth];
    for (int64_t i = 0; i < a->count; i++) {
        walk(p, depth + 1, source + i * a->source, target + i * a->target);
    }
}

void sxi_place(const sxi_place_box *box, const void *source, const sxi_place_type *source_type,
               void *target, const sxi_place_type *target_type) {
    plan p;
    const char *from = source;
    char *to = target;
    const bool known = sxi_convert_find(source_type, target_type, &p.convert);
    assert(known);
    if (known && take_axes(&p, box, &from, &to)) {
        merge_axes(&p);
        choose_inner(&p);
        walk(&p, 0, from, to);
    }
}
