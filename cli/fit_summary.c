/* SPDX-License-Identifier: Apache-2.0 */
#include "fit_summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "json.h"

enum { STATES = (int)(sizeof((sx_xani_fit_summary *)0)->state / sizeof(int64_t)) };

static double total_seconds(const sx_xani_fit_summary *s) {
    return s->seconds_read + s->seconds_fit + s->seconds_write;
}

/* The most memory this process ever held. */
static json_int_t peak_memory(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (json_int_t)usage.ru_maxrss * 1024 : 0;
}

static double rate(const sx_xani_fit_summary *s) {
    return s->seconds_fit > 0 ? (double)s->pixels / s->seconds_fit : 0;
}

static void print_value(const char *name, double value, double error, const char *unit) {
    printf("  %-16s %.10g +- %.3g %s\n", name, value, error, unit);
}

/* One trace: its numbers say more than counts. */
static void print_single(const sx_xani_fit_summary *s) {
    const sx_dcos_fit *fit = &s->single;
    for (int k = 0; k < fit->modes; k++) {
        const sx_dcos_mode *m = &fit->mode[k];
        printf("mode %d\n", k);
        print_value("frequency", m->frequency, m->frequency_error, "THz");
        print_value("amplitude", m->amplitude, m->amplitude_error, "");
        print_value("decay", m->decay, m->decay_error, "1/ps");
        print_value("phase", m->phase, m->phase_error, "rad");
    }
    puts("background");
    print_value("offset", fit->offset, fit->offset_error, "");
    if (isfinite(fit->background_slope)) {
        print_value("slope", fit->background_slope, fit->background_slope_error, "1/ps");
    }
    if (isfinite(fit->background_time)) {
        print_value("amplitude", fit->background_amplitude, fit->background_amplitude_error, "");
        print_value("time", fit->background_time, fit->background_time_error, "ps");
    }
    printf("%s %.10g per degree of freedom, %d samples\n", s->has_sigma ? "chi2" : "sum of squares",
           fit->chi2, (int)fit->used);
}

static json_t *json_value(double value, double error) {
    return json_pack("[o,o]", cli_json_real(value), cli_json_real(error));
}

static json_t *json_single(const sx_dcos_fit *fit) {
    json_t *modes = json_array();
    for (int k = 0; k < fit->modes; k++) {
        const sx_dcos_mode *m = &fit->mode[k];
        json_array_append_new(modes,
                              json_pack("{s:o, s:o, s:o, s:o}", "frequency",
                                        json_value(m->frequency, m->frequency_error), "amplitude",
                                        json_value(m->amplitude, m->amplitude_error), "decay",
                                        json_value(m->decay, m->decay_error), "phase",
                                        json_value(m->phase, m->phase_error)));
    }
    return json_pack("{s:o, s:o, s:o, s:i}", "modes", modes, "offset",
                     json_value(fit->offset, fit->offset_error), "chi2", cli_json_real(fit->chi2),
                     "samples", (int)fit->used);
}

sx_status cli_fit_summary_print(const sx_xani_fit_summary *s, const char *input,
                                const char *output) {
    printf("%s: %s, %s sigma\n", input, s->layout, s->has_sigma ? "with" : "without");
    printf("%" PRId64 " pixel%s, %" PRId64 " delays", s->pixels, s->pixels == 1 ? "" : "s",
           s->delays);
    if (s->delays_left_out > 0) {
        printf(", %" PRId64 " of them before the start left out", s->delays_left_out);
    }
    printf("; frequencies %.4g to %.4g THz\n", s->frequency_lowest, s->frequency_highest);
    for (int i = 0; i < STATES; i++) {
        if (s->state[i] > 0 && sx_dcos_state_word(i)) {
            printf("  %-16s %10" PRId64 "  %5.1f %%  %s\n", sx_dcos_state_word(i), s->state[i],
                   100.0 * (double)s->state[i] / (double)s->pixels, sx_dcos_state_sentence(i));
        }
    }
    printf("modes of pixels in state ok:");
    for (int k = 0; k <= SX_DCOS_MAX_MODES; k++) {
        printf(" %d: %" PRId64 "%s", k, s->modes[k], k < SX_DCOS_MAX_MODES ? "," : "\n");
    }
    if (s->has_sigma && isfinite(s->chi2_mean)) {
        printf("mean chi2 of pixels in state ok: %.3g per degree of freedom\n", s->chi2_mean);
    }
    if (s->pixels == 1) {
        print_single(s);
    }
    printf("%.3g s (read %.3g, fit %.3g, write %.3g), %.3g pixels/s\n", total_seconds(s),
           s->seconds_read, s->seconds_fit, s->seconds_write, rate(s));
    printf("wrote %s\n", output);
    return SX_OK;
}

sx_status cli_fit_summary_json(const sx_xani_fit_summary *s, const char *input,
                               const char *output) {
    json_t *states = json_object(), *modes = json_array();
    for (int i = 0; i < STATES; i++) {
        if (sx_dcos_state_word(i)) {
            json_object_set_new(states, sx_dcos_state_word(i), json_integer(s->state[i]));
        }
    }
    for (int k = 0; k <= SX_DCOS_MAX_MODES; k++) {
        json_array_append_new(modes, json_integer(s->modes[k]));
    }
    json_t *summary = json_pack(
        "{s:s, s:s, s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:o, s:[o,o], s:{s:o, s:o, s:o}, s:o, s:I}",
        "input", input, "output", output, "layout", s->layout, "has_sigma", s->has_sigma, "pixels",
        (json_int_t)s->pixels, "delays", (json_int_t)s->delays, "delays_left_out",
        (json_int_t)s->delays_left_out, "states", states, "modes", modes, "chi2_mean",
        cli_json_real(s->chi2_mean), "frequency_window_thz", cli_json_real(s->frequency_lowest),
        cli_json_real(s->frequency_highest), "seconds", "read", cli_json_real(s->seconds_read),
        "fit", cli_json_real(s->seconds_fit), "write", cli_json_real(s->seconds_write),
        "pixels_per_second", cli_json_real(rate(s)), "peak_memory_bytes", peak_memory());
    if (summary && s->pixels == 1) {
        json_object_set_new(summary, "fit", json_single(&s->single));
    }
    return cli_print_json(summary);
}
