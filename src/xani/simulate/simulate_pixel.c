/* SPDX-License-Identifier: Apache-2.0
 * What a pixel sees of the lattice, and how it counts photons. */
#include "xani/simulate/simulate.h"

#include <math.h>

#include "base/rng.h"

#define PI 3.14159265358979323846

/* Streams of random numbers, so that no two purposes share one. */
enum { STREAM_SHOTS = 1, STREAM_DELAY, STREAM_DEAD, STREAM_HOT, STREAM_OFF, STREAM_ON };

/* The field of view: 1.3 zones around the Bragg peak (2, 1), which is not quite in the middle, so
 * that a frame of one pixel does not look at it either. */
static const double BRAGG[2] = {2, 1};
static const double FIELD = 1.3;
static const double CENTRE[2] = {0.08, 0.05};
static const double BEAM_STOP = 0.045; /* radius, same units */

/* Elastic and Compton scattering, in units of the diffuse scattering of the highest mode. */
static const double STATIC_LEVEL = 0.45;
/* The window of the sample chamber shades what is farther than this, over this width. */
static const double WINDOW = 0.66, WINDOW_EDGE = 0.05;
/* Decay of the oscillation: that of the softest modes, and what is added at the highest, 1/ps. */
static const double DECAY_LOW = 0.08, DECAY_HIGH = 0.32;
static const double DEAD_SHARE = 2e-3, HOT_SHARE = 1e-3;
static const double HOT_LEVEL = 400; /* light leak of a hot pixel, in the units of STATIC_LEVEL */
/* Closer to a Bragg peak than this (behind the beam stop) omega is not allowed to vanish. */
static const double OMEGA_FLOOR = 0.01;
/* A mode whose displacement is at right angles to Q, but for rounding, is not there. */
static const double LEAST_SHARE = 1e-12;

static double uniform(const sxi_run *run, int stream, int64_t index) {
    return sxi_rng_uniform(run->seed, (uint32_t)stream, (uint64_t)index);
}

static double poisson(const sxi_run *run, int stream, int64_t index, double mean) {
    return (double)sxi_rng_poisson(run->seed, (uint32_t)stream, (uint64_t)index, mean);
}

static double window(double distance) { return 1 / (1 + exp((distance - WINDOW) / WINDOW_EDGE)); }

sxi_pixel sxi_run_pixel(const sxi_run *run, int64_t number) {
    int64_t row = number / run->width, x = number % run->width;
    /* Row 0 is on top of the picture, so k falls with the row. */
    double q[2] = {FIELD * (((double)x + 0.5) / (double)run->width - 0.5) + CENTRE[0],
                   FIELD * (0.5 - ((double)row + 0.5) / (double)run->rows) + CENTRE[1]};
    double distance = hypot(q[0], q[1]);
    sxi_pixel pixel = {.h = BRAGG[0] + q[0], .k = BRAGG[1] + q[1]};
    pixel.masked = distance < BEAM_STOP || uniform(run, STREAM_DEAD, number) < DEAD_SHARE;

    sxi_branch branch[SXI_BRANCHES];
    sxi_lattice_branches(&run->lattice, q[0], q[1], branch);
    double diffuse[SXI_BRANCHES];
    double leak = uniform(run, STREAM_HOT, number) < HOT_SHARE ? HOT_LEVEL : 0;
    double total = STATIC_LEVEL + leak;
    for (int j = 0; j < SXI_BRANCHES; j++) {
        double along =
            (pixel.h * branch[j].e[0] + pixel.k * branch[j].e[1]) / hypot(BRAGG[0], BRAGG[1]);
        double omega = fmax(branch[j].omega / run->omega_max, OMEGA_FLOOR);
        diffuse[j] = along * along / (omega * omega);
        total += diffuse[j];
    }
    pixel.photons = run->photons / run->brightness * total * window(distance);

    double kept = 1 - run->lattice.softening;
    double rise = (1 / kept - 1) / 2; /* (rho - 1) / 2 */
    for (int j = 0; j < SXI_BRANCHES; j++) {
        double share = diffuse[j] / total;
        if (share < LEAST_SHARE) {
            continue;
        }
        double relative = branch[j].omega / run->omega_max;
        int m = pixel.modes++;
        pixel.frequency[m] = 2 * sqrt(kept) * branch[j].omega / (2 * PI);
        pixel.amplitude[m] = rise * share;
        pixel.decay[m] = DECAY_LOW + DECAY_HIGH * relative * relative;
        pixel.phase[m] = PI;
        pixel.offset += rise * share;
    }
    return pixel;
}

double sxi_run_brightness(const sxi_run *run) {
    sxi_run unit = *run;
    unit.photons = unit.brightness = 1;
    double sum = 0;
    int64_t good = 0;
    for (int64_t number = 0; number < run->rows * run->width; number++) {
        sxi_pixel pixel = sxi_run_pixel(&unit, number);
        if (!pixel.masked) {
            sum += pixel.photons;
            good++;
        }
    }
    return good ? sum / (double)good : 1;
}

double sxi_pixel_signal(const sxi_pixel *pixel, double delay_ps) {
    if (delay_ps < 0) {
        return 0;
    }
    double y = pixel->offset;
    for (int m = 0; m < pixel->modes; m++) {
        y += pixel->amplitude[m] * exp(-pixel->decay[m] * delay_ps) *
             cos(2 * PI * pixel->frequency[m] * delay_ps + pixel->phase[m]);
    }
    return y;
}

sxi_measured sxi_run_measure(const sxi_run *run, const sxi_pixel *pixel, int64_t number, double *y,
                             double *sigma) {
    double off_share =
        SXI_OFF_SHOTS * (double)run->nt; /* laser-off shots in bins of average length */
    double expected = pixel->photons * off_share;
    double off = run->noiseless ? expected : poisson(run, STREAM_OFF, number, expected);
    double reference = off / off_share;
    double on_all = 0, share_all = 0;
    for (int64_t t = 0; t < run->nt; t++) {
        double on = pixel->photons * run->share[t] * (1 + sxi_pixel_signal(pixel, run->delay[t]));
        if (!run->noiseless) {
            on = poisson(run, STREAM_ON, number * run->nt + t, on);
        }
        on_all += on;
        share_all += run->share[t];
        y[t] = on / (run->share[t] * reference) - 1;
    }
    /* The shot noise of a bin comes from the mean rate of the pixel, not from the count of the bin:
     * that one is low where it fluctuates down, and would pull a weighted mean with it. */
    double rate = on_all / share_all;
    for (int64_t t = 0; t < run->nt; t++) {
        sigma[t] = sqrt(rate / run->share[t]) / reference;
    }
    return (sxi_measured){
        .off = reference, .off_error = sqrt(off) / off_share, .seen = off > 0 && on_all > 0};
}

int64_t sxi_run_shots(uint64_t seed, int64_t bin) {
    /* Never none: an empty bin would have no mean delay. */
    int64_t shots = sxi_rng_poisson(seed, STREAM_SHOTS, (uint64_t)bin, SXI_SHOTS);
    return shots < 1 ? 1 : shots;
}

double sxi_run_delay(uint64_t seed, int64_t bin, double first, double step, int64_t shots) {
    double jitter =
        step / sqrt(12.0 * (double)shots) * sxi_rng_normal(seed, STREAM_DELAY, (uint64_t)bin);
    return first + (double)bin * step + jitter;
}
