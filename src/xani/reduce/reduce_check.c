/* SPDX-License-Identifier: Apache-2.0
 * Do labels, delays and signs fit together? Asked of the data, while they pass by: frames are cut into
 * a few blocks, the brightness of each over I0 is binned by the delay as it was taken, by the delay with
 * the other sign of the time tool, and of laser-off shots by the nominal delay. Where the delays are right
 * the bins explain more of the scatter. Theory: docs/theory/reduce.md. */
#include "xani/reduce/reduce.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kern/kern.h"

/* Of a frame some 8,000 pixels are looked at, in stretches that vectors can take. */
enum { BLOCKS = 8, PIXELS = 1 << 13, STRETCH = 64 };

/* Ways to bin. */
enum { TAKEN, OTHER_SIGN, LASER_OFF, WAYS };

typedef struct bin {
    double n, sum[BLOCKS], squares[BLOCKS];
} bin;

/* Sums for a straight line and a correlation. */
typedef struct line {
    double n, x, y, xx, xy, yy;
} line;

struct sxi_check {
    int64_t pixels, bins;
    const double *edges; /* of the caller */
    const uint8_t *mask; /* of the caller; or NULL */
    bool has_tool;
    int sign;
    bin *bin[WAYS]; /* [bins] */
    line tool;      /* against the nominal delay */
    line total;     /* of a frame against I0 */
};

/* Beyond this many standard deviations it is no chance. */
static const double SURE = 6;

sx_status sxi_check_create(const sx_reducer_options *o, bool has_tool, int sign,
                           sxi_check **check) {
    sxi_check *c = calloc(1, sizeof *c);
    bin *memory = calloc(WAYS * (size_t)o->bins, sizeof *memory);
    *check = NULL;
    if (!c || !memory) {
        free(c);
        free(memory);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to check the delays");
    }
    *c = (sxi_check){.pixels = 1,
                     .bins = o->bins,
                     .edges = o->edges,
                     .mask = o->mask,
                     .has_tool = has_tool,
                     .sign = sign};
    for (int d = 0; d < o->rank; d++) {
        c->pixels *= o->shape[d];
    }
    for (int w = 0; w < WAYS; w++) {
        c->bin[w] = memory + w * o->bins;
    }
    *check = c;
    return SX_OK;
}

void sxi_check_destroy(sxi_check **check) {
    if (*check) {
        free((*check)->bin[0]);
        free(*check);
        *check = NULL;
    }
}

static int64_t bin_of(const sxi_check *c, double delay) {
    int64_t low = 0, high = c->bins;
    if (!(delay >= c->edges[0] && delay < c->edges[c->bins])) {
        return -1;
    }
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        *(delay < c->edges[middle] ? &high : &low) = middle;
    }
    return low;
}

#define DEFINE_BLOCK(type, sum_type)                                                               \
    SXI_CLONES static double block_##type(const type *x, const uint8_t *mask, int64_t first,       \
                                          int64_t end, int64_t step) {                             \
        sum_type sum = 0;                                                                          \
        for (int64_t p0 = first; p0 < end; p0 += step) {                                           \
            const int64_t last = p0 + STRETCH < end ? p0 + STRETCH : end;                          \
            for (int64_t p = p0; p < last; p++) {                                                  \
                const bool left_out = (mask && mask[p]) || !(fabs((double)x[p]) <= 1e300);         \
                sum += left_out ? (sum_type)0 : (sum_type)x[p];                                    \
            }                                                                                      \
        }                                                                                          \
        return (double)sum;                                                                        \
    }

DEFINE_BLOCK(float, double)
DEFINE_BLOCK(double, double)

/* Counts that are not masked: at most 2^16 times 2^13 pixels of a block. */
SXI_CLONES static double block_uint16_t(const uint16_t *x, const uint8_t *mask, int64_t first,
                                        int64_t end, int64_t step) {
    uint32_t sum = 0;
    for (int64_t p0 = first; p0 < end; p0 += step) {
        const int64_t last = p0 + STRETCH < end ? p0 + STRETCH : end;
        if (mask) {
            for (int64_t p = p0; p < last; p++) {
                sum += mask[p] ? 0u : x[p];
            }
        } else {
            for (int64_t p = p0; p < last; p++) {
                sum += x[p];
            }
        }
    }
    return (double)sum;
}

/* Brightness of the blocks of a frame: a sum over some of their pixels. */
static void blocks_of(const sxi_check *c, sx_dtype dtype, const void *frame, double sum[BLOCKS]) {
    const int64_t step = STRETCH * ((c->pixels + PIXELS - 1) / PIXELS);
    for (int64_t b = 0; b < BLOCKS; b++) {
        const int64_t first = b * c->pixels / BLOCKS, end = (b + 1) * c->pixels / BLOCKS;
        sum[b] = dtype == SX_F32   ? block_float(frame, c->mask, first, end, step)
                 : dtype == SX_F64 ? block_double(frame, c->mask, first, end, step)
                                   : block_uint16_t(frame, c->mask, first, end, step);
    }
}

static void line_add(line *l, double x, double y) {
    l->n += 1;
    l->x += x;
    l->y += y;
    l->xx += x * x;
    l->xy += x * y;
    l->yy += y * y;
}

static void bin_add(bin *b, const double *value) {
    b->n += 1;
    for (int k = 0; k < BLOCKS; k++) {
        b->sum[k] += value[k];
        b->squares[k] += value[k] * value[k];
    }
}

static void add_shot(sxi_check *c, const sxi_check_shot *s, double *blocks, double i0_offset) {
    const double beam = s->shot.i0 - i0_offset;
    double total = 0;
    for (int k = 0; k < BLOCKS; k++) {
        total += blocks[k];
        blocks[k] /= beam;
    }
    line_add(&c->total, s->shot.i0, total);
    if (!(beam > 0)) {
        return;
    }
    if (!s->shot.on) {
        const int64_t b = bin_of(c, s->nominal_ps);
        if (b >= 0) {
            bin_add(&c->bin[LASER_OFF][b], blocks);
        }
        return;
    }
    const int64_t b = bin_of(c, s->shot.delay_ps);
    if (!c->has_tool) {
        bin_add(&c->bin[TAKEN][b], blocks);
        return;
    }
    line_add(&c->tool, s->nominal_ps, s->tool_ps);
    /* Of the same shots, else the comparison means nothing. */
    const int64_t other = bin_of(c, s->nominal_ps - c->sign * s->tool_ps);
    if (b >= 0 && other >= 0) {
        bin_add(&c->bin[TAKEN][b], blocks);
        bin_add(&c->bin[OTHER_SIGN][other], blocks);
    }
}

sx_status sxi_check_add(sxi_check *c, sx_dtype dtype, int64_t count, const void *const *frames,
                        const sxi_check_shot *shots, double i0_offset, const sx_context *context) {
    double(*blocks)[BLOCKS] = malloc((size_t)(count ? count : 1) * sizeof *blocks);
    if (!blocks) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to check the delays");
    }
#pragma omp parallel for num_threads(sx_threads(context)) schedule(dynamic)
    for (int64_t k = 0; k < count; k++) {
        blocks_of(c, dtype, frames[k], blocks[k]);
    }
    for (int64_t k = 0; k < count; k++) { /* in order, so that threads change nothing */
        add_shot(c, &shots[k], blocks[k], i0_offset);
    }
    free(blocks);
    return SX_OK;
}

/* --- what it shows --- */

/* Scatter within bins and between them, of one block. */
typedef struct parts {
    double within, between, shots, bins;
} parts;

static parts parts_of(const sxi_check *c, int way, int block) {
    parts p = {0};
    double sum = 0, squares = 0, means = 0;
    for (int64_t b = 0; b < c->bins; b++) {
        const bin *one = &c->bin[way][b];
        if (one->n > 0) {
            p.shots += one->n;
            p.bins += 1;
            sum += one->sum[block];
            squares += one->squares[block];
            means += one->sum[block] * one->sum[block] / one->n;
        }
    }
    p.within = squares - means;
    p.between = means - sum * sum / p.shots;
    return p;
}

/* How much more the bins differ than chance lets them, in standard deviations of it: mean of the blocks. */
static double change(const sxi_check *c, int way) {
    double sum = 0;
    int64_t n = 0;
    for (int k = 0; k < BLOCKS; k++) {
        const parts p = parts_of(c, way, k);
        if (p.bins > 1 && p.shots > p.bins && p.within > 0) {
            const double f = p.between / (p.bins - 1) / (p.within / (p.shots - p.bins));
            sum += (f - 1) / sqrt(2 / (p.bins - 1) + 2 / (p.shots - p.bins));
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}

/* Scatter that the delays as taken explain beyond the others, likewise. */
static double sharpness(const sxi_check *c) {
    double sum = 0;
    int64_t n = 0;
    for (int k = 0; k < BLOCKS; k++) {
        const parts taken = parts_of(c, TAKEN, k), other = parts_of(c, OTHER_SIGN, k);
        if (taken.bins > 1 && taken.shots > taken.bins && taken.within > 0) {
            const double noise = taken.within / (taken.shots - taken.bins);
            sum += (other.within - taken.within) / noise / (2 * sqrt(taken.bins));
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}

static void slope_of(const line *l, double *slope, double *error) {
    const double xx = l->xx - l->x * l->x / l->n;
    const double xy = l->xy - l->x * l->y / l->n;
    const double yy = l->yy - l->y * l->y / l->n;
    *slope = xy / xx;
    *error = sqrt(fmax(0, yy / xx - *slope * *slope) / fmax(1, l->n - 2));
}

static double correlation(const line *l) {
    const double xx = l->xx - l->x * l->x / l->n;
    const double xy = l->xy - l->x * l->y / l->n;
    const double yy = l->yy - l->y * l->y / l->n;
    /* What does not vary correlates with nothing: its sums differ by rounding alone. */
    return xx > 1e-12 * l->xx && yy > 1e-12 * l->yy ? xy / sqrt(xx * yy) : (double)NAN;
}

/* Logs a sentence and keeps it in the summary. */
__attribute__((format(printf, 3, 4))) static void
warn(const sx_context *context, sx_xani_reduce_summary *s, const char *format, ...) {
    char *words = s->warning[s->warnings++];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof s->warning[0], format, arguments);
    va_end(arguments);
    sx_log(context, SX_LOG_WARNING, "%s", words);
}

static void tell_tool(const sxi_check *c, const sx_context *context, sx_xani_reduce_summary *s) {
    s->tool_mean = c->tool.y / c->tool.n;
    s->tool_rms = sqrt(fmax(0, c->tool.yy / c->tool.n - s->tool_mean * s->tool_mean));
    slope_of(&c->tool, &s->tool_slope, &s->tool_slope_error);
    s->sharpness = sharpness(c);
    if (s->sharpness < -SURE) {
        warn(context, s,
             "the sign of the time tool looks wrong: frames depend more on the delay if it is "
             "%s, by %.0f standard deviations; try --time-tool-sign %s",
             c->sign > 0 ? "subtracted" : "added", -s->sharpness, c->sign > 0 ? "minus" : "plus");
    }
    if (fabs(s->tool_slope) > 0.5 && fabs(s->tool_slope) > SURE * s->tool_slope_error) {
        warn(context, s,
             "the time tool follows the nominal delay with a slope of %.2f, so that the sum %s; "
             "is it the jitter alone?",
             s->tool_slope,
             c->sign * s->tool_slope > 0 ? "counts delays twice" : "takes the delay out again");
    }
}

void sxi_check_tell(const sxi_check *c, const sx_context *context, sx_xani_reduce_summary *s) {
    s->on_change = change(c, TAKEN);
    s->off_change = change(c, LASER_OFF);
    s->i0_correlation = correlation(&c->total);
    s->has_time_tool = c->has_tool;
    if (c->has_tool && c->tool.n > 2) {
        tell_tool(c, context, s);
    }
    if (s->off_change > SURE && s->off_change > 3 * s->on_change) {
        warn(context, s,
             "the labels of laser on and off look swapped: shots called laser-off change with "
             "the delay (%.0f standard deviations), those called laser-on do not (%.0f)",
             s->off_change, s->on_change);
    }
    if (s->i0_correlation < 0.3) {
        warn(context, s,
             "the brightness of the frames hardly follows I0 (correlation %.2f): is it the right "
             "monitor, and are its rows those of the frames?",
             s->i0_correlation);
    }
}
