/* SPDX-License-Identifier: Apache-2.0 */
#include "xani/simulate/shots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/rng.h"
#include "xani/simulate/streams.h"

static const double PI = 3.14159265358979323846;

/* No jitter is larger, in standard deviations: one in two million would be. */
static const double FARTHEST = 5;
/* The brightness at all delays takes no more memory than this. */
static const int64_t MOST_BYTES = (int64_t)1 << 30;
/* Pulses of a free-electron laser fluctuate, but are not negative. */
static const double WEAKEST = 0.05;

/* --- pulses --- */

static double normal(const sx_xani_run_options *o, int stream, int64_t shot) {
    const double x = sxi_rng_normal(o->seed, (uint32_t)stream, (uint64_t)shot);
    return fmax(-FARTHEST, fmin(FARTHEST, x));
}

/* Without laser the camera of the time tool still reports something, faint and of no meaning. */
static void set_tool(const sx_xani_run_options *o, int64_t shot, sxi_pulse *p) {
    const double error = normal(o, SXI_STREAM_TOOL, shot);
    const double light = 1 + 0.1 * normal(o, SXI_STREAM_TOOL_LIGHT, shot);
    p->tool = p->laser ? p->delay - p->nominal + o->tool_error * error : 0.3 * error;
    p->tool_amplitude = (p->laser ? 0.05 : 0.005) * light;
    p->tool_width = (p->laser ? 100 : 400) * light;
}

void sxi_pulse_get(const sx_xani_run_options *o, int64_t shot, sxi_pulse *p) {
    p->laser = shot % o->off_every != o->off_every - 1;
    p->xray = sxi_rng_uniform(o->seed, SXI_STREAM_DROP, (uint64_t)shot) >= o->drop;
    p->nominal = o->delay_first + o->delay_step * (double)(shot / o->off_every % o->delays);
    p->delay = p->nominal + o->jitter * normal(o, SXI_STREAM_JITTER, shot);
    if (p->delay > 0) {
        p->delay = SXI_DELAY_QUANTUM * rint(p->delay / SXI_DELAY_QUANTUM);
    }
    const double spread = 1 + o->i0_spread * normal(o, SXI_STREAM_INTENSITY, shot);
    p->intensity = p->xray ? fmax(WEAKEST, spread) : 0;
    p->monitor = 1000 * (p->intensity + o->i0_offset);
    set_tool(o, shot, p);
    p->delay = p->laser ? p->delay : (double)NAN;
}

/* --- brightness at a delay --- */

/* A few pixels, so that the phasors of their tones stay in the cache. */
enum { GROUP = 64 };

typedef struct group {
    double sum[GROUP];
    double re[SXI_SCENE_TONES][GROUP], im[SXI_SCENE_TONES][GROUP];
    double turn_re[SXI_SCENE_TONES][GROUP], turn_im[SXI_SCENE_TONES][GROUP];
} group;

/* Phasors at a delay, and what turns them to the next one a quantum later. */
static void group_start(const sxi_scene *s, int64_t first, int64_t count, double delay, group *g) {
    const double shrink = exp(-s->damping * SXI_DELAY_QUANTUM);
    memset(g, 0, sizeof *g);
    for (int64_t i = 0; i < count; i++) {
        const sxi_scene_pixel *pixel = &s->pixel[first + i];
        g->sum[i] = pixel->photons;
        for (int n = 0; n < pixel->tones; n++) {
            const double omega = 2 * PI * pixel->tone[n].frequency;
            const double size = pixel->photons * pixel->tone[n].amplitude;
            const double now = size * exp(-s->damping * delay);
            g->sum[i] -= size;
            g->re[n][i] = now * cos(omega * delay);
            g->im[n][i] = now * sin(omega * delay);
            g->turn_re[n][i] = shrink * cos(omega * SXI_DELAY_QUANTUM);
            g->turn_im[n][i] = shrink * sin(omega * SXI_DELAY_QUANTUM);
        }
    }
}

static void group_value(const group *g, int tones, int64_t count, float *value) {
    double sum[GROUP];
    memcpy(sum, g->sum, sizeof sum);
    for (int n = 0; n < tones; n++) {
        for (int i = 0; i < GROUP; i++) {
            sum[i] += g->re[n][i];
        }
    }
    for (int64_t i = 0; i < count; i++) {
        value[i] = (float)sum[i];
    }
}

static void group_turn(group *g, int tones) {
    for (int n = 0; n < tones; n++) {
        for (int i = 0; i < GROUP; i++) {
            const double re = g->re[n][i], im = g->im[n][i];
            g->re[n][i] = re * g->turn_re[n][i] - im * g->turn_im[n][i];
            g->im[n][i] = re * g->turn_im[n][i] + im * g->turn_re[n][i];
        }
    }
}

static int64_t group_size(const sxi_scene *s, int64_t first) {
    return first + GROUP < s->npix ? GROUP : s->npix - first;
}

static void brightness_at(const sxi_scene *s, double delay, float *value) {
    group g;
    for (int64_t first = 0; first < s->npix; first += GROUP) {
        group_start(s, first, group_size(s, first), delay, &g);
        group_value(&g, s->most_tones, group_size(s, first), value + first);
    }
}

static void fill_after(sxi_detector *d, int threads) {
    const sxi_scene *s = d->scene;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t first = 0; first < s->npix; first += GROUP) {
        group g;
        const int64_t count = group_size(s, first);
        group_start(s, first, count, 0, &g);
        for (int64_t step = 0; step < d->steps; step++) {
            group_value(&g, s->most_tones, count, d->after + step * s->npix + first);
            group_turn(&g, s->most_tones);
        }
    }
}

/* --- the detector --- */

/* Delays are at most so many quanta. */
static int64_t last_step(const sx_xani_run_options *o) {
    const double last = o->delay_first + o->delay_step * (double)(o->delays - 1);
    return last + FARTHEST * o->jitter > 0
               ? (int64_t)rint((last + FARTHEST * o->jitter) / SXI_DELAY_QUANTUM)
               : 0;
}

sx_status sxi_detector_create(const sx_xani_run_options *o, const sxi_scene *scene,
                              const sx_context *context, sxi_detector *d) {
    const size_t n = (size_t)scene->npix;
    sx_status status = SX_OK;
    *d = (sxi_detector){.options = o, .scene = scene, .steps = last_step(o) + 1};
    d->raw = o->pedestal != 0 || o->gain != 1 || o->noise > 0 || o->common_mode > 0 ||
             o->gain_switch > 0;
    SXI_GO(sxi_photons_create(&d->photons));
    const bool kept =
        d->steps <= MOST_BYTES / (scene->npix * (int64_t)sizeof(float)) && d->steps / 4 <= o->shots;
    d->before = malloc(n * sizeof *d->before);
    d->after = kept ? malloc((size_t)d->steps * n * sizeof *d->after) : NULL;
    if (!d->before || (kept && !d->after)) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for %zu pixels at %lld delays", n,
                          (long long)d->steps);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        d->before[i] = (float)scene->pixel[i].photons;
    }
    if (kept) {
        fill_after(d, sx_threads(context));
    }
out:
    if (status != SX_OK) {
        sxi_detector_destroy(d);
    }
    return status;
}

void sxi_detector_destroy(sxi_detector *d) {
    sxi_photons_destroy(&d->photons);
    free(d->before);
    free(d->after);
    d->before = d->after = NULL;
}

static const float *brightness(const sxi_detector *d, const sxi_pulse *pulse, float *scratch) {
    if (!pulse->laser || pulse->delay <= 0) {
        return d->before;
    }
    const int64_t step = (int64_t)rint(pulse->delay / SXI_DELAY_QUANTUM);
    if (d->after) {
        return d->after + step * d->scene->npix;
    }
    brightness_at(d->scene, (double)step * SXI_DELAY_QUANTUM, scratch);
    return scratch;
}

/* Photons of a pixel to ADU: what it adds up to before noise, in the gain that it is in. */
static double adu_of(const sx_xani_run_options *o, double photons, double common, bool second) {
    return second ? SXI_SECOND_PEDESTAL + o->gain / SXI_SECOND_RATIO * photons
                  : o->pedestal + o->gain * photons + common;
}

/* A dead pixel reads nothing, not even the pedestal. */
static void digitise(const sxi_detector *d, int64_t shot, uint16_t *frame) {
    const sx_xani_run_options *o = d->options;
    const sxi_scene *s = d->scene;
    const int64_t columns = s->shape[s->rank - 1], rows = s->npix / columns;
    const double most = o->gain_switch > 0 ? SXI_SECOND_MARK - 1 : UINT16_MAX;
    for (int64_t row = 0; row < rows; row++) {
        const double common = o->common_mode * sxi_rng_normal(o->seed, SXI_STREAM_COMMON_MODE,
                                                              (uint64_t)(shot * rows + row));
        for (int64_t i = row * columns; i < (row + 1) * columns; i++) {
            const bool second = o->gain_switch > 0 && frame[i] > o->gain_switch;
            double adu = adu_of(o, frame[i], common, second);
            if (o->noise > 0) {
                adu += o->noise *
                       sxi_rng_normal(o->seed, SXI_STREAM_NOISE, (uint64_t)(shot * s->npix + i));
            }
            const int code = (int)rint(fmax(0, fmin(most, adu))) | (second ? SXI_SECOND_MARK : 0);
            frame[i] = s->pixel[i].dead ? 0 : (uint16_t)code;
        }
    }
}

void sxi_detector_frame(const sxi_detector *d, int64_t shot, const sxi_pulse *pulse, float *scratch,
                        uint16_t *frame) {
    const float *mean = brightness(d, pulse, scratch);
    sxi_photons_draw(d->photons, d->options->seed, SXI_STREAM_PHOTONS, (uint64_t)shot,
                     d->scene->npix, mean, (float)pulse->intensity, frame);
    if (d->raw) {
        digitise(d, shot, frame);
    }
}
