/* SPDX-License-Identifier: Apache-2.0
 * Which shots of a file are taken, and at which delay. */
#include "xani/reduce/reduce.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"

void sxi_selection_free(sxi_selection *s) {
    free(s->reason);
    free(s->shot);
    *s = (sxi_selection){0};
}

static bool within(const sx_reduce_window *window, double value) {
    return !window->given || (value >= window->least && value <= window->most);
}

/* A cut on a column that the file lacks would cut nothing, in silence. */
static sx_status check_cuts(const sxi_shots *s, const sx_xani_reduce_options *o) {
    const struct {
        const sx_reduce_window *window;
        const double *column;
        const char *option, *field;
    } cuts[] = {
        {&o->time_tool_window, s->tool_ps, "--time-tool-range", "--time-tool"},
        {&o->amplitude_window, s->tool_amplitude, "--amplitude-range", "--time-tool-amplitude"},
        {&o->width_window, s->tool_width, "--width-range", "--time-tool-width"}};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        if (cuts[i].window->given && !cuts[i].column) {
            return SXI_FAIL(SX_ERR_MISSING,
                            "%s: there is nothing for %s to cut on: name the dataset with %s",
                            s->path, cuts[i].option, cuts[i].field);
        }
    }
    return SX_OK;
}

static sx_reduce_reason reason_of(const sxi_shots *s, const sx_xani_reduce_options *o, int64_t k) {
    if (s->xray && !(s->xray[k] > 0)) {
        return SX_REDUCE_NO_XRAY;
    }
    if (s->good && !(s->good[k] > 0)) {
        return SX_REDUCE_BAD_FRAME;
    }
    if (isnan(s->laser[k])) {
        return SX_REDUCE_NO_LASER_CODE;
    }
    if (isnan(s->i0[k])) {
        return SX_REDUCE_NO_I0;
    }
    if (!within(&o->i0_window, s->i0[k])) {
        return SX_REDUCE_I0;
    }
    if (!(s->laser[k] > 0)) {
        return SX_REDUCE_USED;
    }
    if (isnan(s->delay_ps[k])) {
        return SX_REDUCE_NO_DELAY;
    }
    if (s->tool_ps && isnan(s->tool_ps[k])) {
        return SX_REDUCE_NO_TIME_TOOL;
    }
    if (s->tool_ps && !within(&o->time_tool_window, s->tool_ps[k])) {
        return SX_REDUCE_TIME_TOOL;
    }
    if (s->tool_amplitude && !within(&o->amplitude_window, s->tool_amplitude[k])) {
        return SX_REDUCE_AMPLITUDE;
    }
    return s->tool_width && !within(&o->width_window, s->tool_width[k]) ? SX_REDUCE_WIDTH
                                                                        : SX_REDUCE_USED;
}

sx_status sxi_select(const sxi_shots *s, const sx_xani_reduce_options *o, sxi_selection *chosen) {
    const size_t room = (size_t)(s->count ? s->count : 1);
    const int sign = o->time_tool_sign < 0 ? -1 : 1;
    *chosen = (sxi_selection){.count = s->count};
    SXI_TRY(check_cuts(s, o));
    chosen->reason = malloc(room);
    chosen->shot = malloc(room * sizeof *chosen->shot);
    if (!chosen->reason || !chosen->shot) {
        sxi_selection_free(chosen);
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld shots", (long long)s->count);
    }
    for (int64_t k = 0; k < s->count; k++) {
        const bool on = s->laser[k] > 0;
        chosen->reason[k] = (uint8_t)reason_of(s, o, k);
        chosen->shot[k] =
            (sx_shot){.i0 = s->i0[k],
                      .delay_ps = s->delay_ps[k] + (on && s->tool_ps ? sign * s->tool_ps[k] : 0),
                      .on = on};
    }
    return SX_OK;
}

/* --- bins --- */

/* A shot and when it was. */
typedef struct moment {
    double time;
    int64_t shot;
} moment;

static int by_time(const void *a, const void *b) {
    const moment *p = a, *q = b;
    const int order = (p->time > q->time) - (p->time < q->time);
    return order ? order : (p->shot > q->shot) - (p->shot < q->shot);
}

/* The laser-on shots before and after each laser-off one, in time; the nearer gives the delay, of two equally
 * near ones the earlier. */
static void pair(const moment *order, int64_t count, sxi_selection *chosen) {
    int64_t before = -1, after = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t k = order[i].shot;
        if (chosen->shot[k].on) {
            before = i;
            continue;
        }
        after = after > i ? after : i;
        while (after < count && !chosen->shot[order[after].shot].on) {
            after++;
        }
        const double since = before >= 0 ? order[i].time - order[before].time : HUGE_VAL;
        const double until = after < count ? order[after].time - order[i].time : HUGE_VAL;
        if (since == HUGE_VAL && until == HUGE_VAL) {
            chosen->reason[k] = SX_REDUCE_NO_PARTNER;
        } else {
            chosen->shot[k].delay_ps =
                chosen->shot[order[since <= until ? before : after].shot].delay_ps;
        }
    }
}

static sx_status pair_off(const sxi_shots *s, sxi_selection *chosen) {
    int64_t count = 0;
    moment *order = malloc((size_t)(s->count ? s->count : 1) * sizeof *order);
    if (!order) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld shots", (long long)s->count);
    }
    for (int64_t k = 0; k < s->count; k++) {
        if (chosen->reason[k] == SX_REDUCE_USED) {
            order[count++] = (moment){s->time ? s->time[k] : (double)k, k};
        }
    }
    qsort(order, (size_t)count, sizeof *order, by_time);
    pair(order, count, chosen);
    free(order);
    return SX_OK;
}

sx_status sxi_select_bins(const sxi_shots *s, const sx_reducer_options *bins,
                          sxi_selection *chosen) {
    for (int64_t k = 0; k < s->count; k++) {
        const double delay = chosen->shot[k].delay_ps;
        if (chosen->reason[k] == SX_REDUCE_USED && chosen->shot[k].on &&
            !(delay >= bins->edges[0] && delay < bins->edges[bins->bins])) {
            chosen->reason[k] = SX_REDUCE_OUTSIDE;
        }
    }
    return bins->off == SX_REDUCE_OFF_BINNED ? pair_off(s, chosen) : SX_OK;
}
