/* SPDX-License-Identifier: Apache-2.0
 * The maps and pixels of a fit.h5, as the picture needs them. */
#include "xani/figure/figure_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

void sxi_fit_close(sxi_fit_file *fit) {
    sx_hdf5_close(&fit->h5);
    free(fit->frequency);
    free(fit->amplitude);
    free(fit->decay);
    free(fit->phase);
    free(fit->chi2);
    free(fit->class);
}

/* --- maps --- */

static sx_status check_shape(const sxi_fit_file *fit, const char *name, bool with_modes) {
    sx_hdf5_dataset found;
    SXI_TRY(sx_hdf5_describe(fit->h5, name, &found));
    bool same = found.numeric && found.rank == fit->rank + with_modes &&
                (!with_modes || found.shape[0] == fit->modes);
    for (int d = 0; same && d < fit->rank; d++) {
        same = found.shape[d + with_modes] == fit->shape[d];
    }
    return same ? SX_OK
                : SXI_FAIL(SX_ERR_SHAPE,
                           "%s: %s has not the shape of /fit/state%s; was the file made by sextant "
                           "xani fit?",
                           fit->path, name, with_modes ? " for each mode of /fit/frequency" : "");
}

/* How it was fitted; a file that does not say was fitted with defaults. */
static void read_settings(sxi_fit_file *fit) {
    double bin[2], roi[4];
    if (sxi_h5_attribute_real(fit->h5, "/fit", "t0_ps", &fit->t0) != SX_OK) {
        fit->t0 = 0;
    }
    if (sxi_h5_attribute_real(fit->h5, "/fit", "t_start_ps", &fit->t_start) != SX_OK) {
        fit->t_start = fit->t0;
    }
    if (sxi_h5_attribute_reals(fit->h5, "/fit", "bin", 2, bin) == SX_OK) {
        fit->bin[0] = (int64_t)bin[0];
        fit->bin[1] = (int64_t)bin[1];
    }
    if (sxi_h5_attribute_reals(fit->h5, "/fit", "roi", 4, roi) == SX_OK) {
        for (int i = 0; i < 4; i++) {
            fit->roi[i] = (int64_t)roi[i];
        }
    }
    if (sxi_h5_attribute_text(fit->h5, "/fit", "input_layout", fit->layout, sizeof fit->layout) !=
        SX_OK) {
        fit->layout[0] = '\0';
    }
    char sigma[16] = "";
    fit->no_sigma =
        sxi_h5_attribute_text(fit->h5, "/fit", "input_sigma", sigma, sizeof sigma) == SX_OK &&
        strcmp(sigma, "unknown") == 0;
    fit->relative = strstr(fit->layout, "cube") != NULL;
}

sx_status sxi_fit_open(const char *path, sxi_fit_file *fit) {
    *fit = (sxi_fit_file){.path = path, .best = -1};
    sx_status status = SX_OK;
    sx_hdf5_dataset state, frequency;
    SXI_GO(sx_hdf5_open(path, &fit->h5));
    SXI_GO(sx_hdf5_describe(fit->h5, "/fit/state", &state));
    SXI_GO(sx_hdf5_describe(fit->h5, "/fit/frequency", &frequency));
    if (state.rank < 1 || state.rank > 3 || frequency.rank != state.rank + 1) {
        status = SXI_FAIL(SX_ERR_SHAPE,
                          "%s: /fit/state has %d dimensions and /fit/frequency %d; 1 to 3 and one "
                          "more were expected",
                          path, state.rank, frequency.rank);
        goto out;
    }
    fit->rank = state.rank;
    fit->modes = frequency.shape[0];
    fit->npix = 1;
    for (int d = 0; d < state.rank; d++) {
        fit->shape[d] = state.shape[d];
        fit->npix *= state.shape[d];
    }
    fit->width = state.rank == 1 ? 1 : state.shape[state.rank - 1];
    if (fit->npix < 1) {
        status = SXI_FAIL(SX_ERR_SHAPE, "%s: /fit/state has no pixels", path);
        goto out;
    }
    fit->rows = fit->npix / fit->width;
    static const char *const maps[] = {"/fit/state", "/fit/modes", "/fit/chi2", "/fit/offset"};
    static const char *const stacks[] = {"/fit/frequency", "/fit/amplitude", "/fit/decay",
                                         "/fit/phase", "/fit/amplitude_errors"};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        SXI_GO(check_shape(fit, maps[i], false));
    }
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        SXI_GO(check_shape(fit, stacks[i], true));
    }
    read_settings(fit);
out:
    if (status != SX_OK) {
        sxi_fit_close(fit);
    }
    return status;
}

sx_status sxi_fit_plane(const sxi_fit_file *fit, const char *name, int64_t mode, double *values) {
    const bool stack = mode >= 0;
    int64_t start[SX_MAX_RANK] = {stack ? mode : 0}, count[SX_MAX_RANK] = {1};
    memcpy(count + stack, fit->shape, (size_t)fit->rank * sizeof *count);
    sx_array array;
    SXI_TRY(sx_array_view(SX_F64, fit->rank + stack, count, values, &array));
    return sxi_h5_read_box(fit->h5, name, start, count, &array);
}

static sx_status read_strongest(sxi_fit_file *fit, const double *state, double *scratch) {
    size_t n = (size_t)fit->npix;
    double *amplitude = scratch, *error = scratch + n, *other = scratch + 2 * n;
    const struct {
        const char *name;
        float *map;
    } others[] = {
        {"/fit/frequency", fit->frequency}, {"/fit/decay", fit->decay}, {"/fit/phase", fit->phase}};
    double clearest = 0;
    for (int64_t mode = 0; mode < fit->modes; mode++) {
        SXI_TRY(sxi_fit_plane(fit, "/fit/amplitude", mode, amplitude));
        SXI_TRY(sxi_fit_plane(fit, "/fit/amplitude_errors", mode, error));
        for (size_t i = 0; i < n; i++) {
            /* A pixel not to be touched in this pass gets NaN. */
            bool stronger = state[i] == SX_DCOS_OK && isfinite(amplitude[i]) &&
                            !((double)fit->amplitude[i] >= amplitude[i]);
            if (!stronger) {
                amplitude[i] = (double)NAN;
                continue;
            }
            fit->amplitude[i] = (float)amplitude[i];
            if (amplitude[i] / error[i] > clearest) {
                clearest = amplitude[i] / error[i];
                fit->best = (int64_t)i;
            }
        }
        for (size_t o = 0; o < sizeof others / sizeof *others; o++) {
            SXI_TRY(sxi_fit_plane(fit, others[o].name, mode, other));
            for (size_t i = 0; i < n; i++) {
                if (isfinite(amplitude[i])) {
                    others[o].map[i] = (float)other[i];
                }
            }
        }
    }
    return SX_OK;
}

static const char *class_colour(int state, int modes) {
    static const char *const by_modes[] = {"#e9ecef", "#4878a8", "#e3a23c", "#c0504d", "#7b4f9d"};
    static const char *const by_state[] = {
        [SX_DCOS_MASKED] = "#9a9a9a",        [SX_DCOS_TOO_FEW] = "#b9a28e",
        [SX_DCOS_NO_SIGNAL] = "#d3cbb8",     [SX_DCOS_NOT_CONVERGED] = "#202020",
        [SX_DCOS_SINGULAR] = "#6b3f2a",      [SX_DCOS_AT_BOUND] = "#86b086",
        [SX_DCOS_DEGENERATE] = "#2f6f6f",    [SX_DCOS_AMBIGUOUS] = "#e08fb8",
        [SX_DCOS_INSIGNIFICANT] = "#b9cbe0", [SX_DCOS_UNEXPLAINED] = "#d9603b",
    };
    if (state == SX_DCOS_OK) {
        return by_modes[modes];
    }
    size_t known = sizeof by_state / sizeof *by_state;
    return (size_t)state < known && by_state[state] ? by_state[state] : "#ff00ff";
}

/* Classes are modes 0..4 of state ok, then the other states; only those that occur are named. */
static void classify(sxi_fit_file *fit, const double *state, const double *modes) {
    enum { OKS = SX_DCOS_MAX_MODES + 1, ALL = OKS + SXI_STATES };
    int64_t count[ALL] = {0};
    int index[ALL];
    for (int64_t i = 0; i < fit->npix; i++) {
        int s = (int)state[i], m = (int)modes[i];
        m = m < 0 ? 0 : m > SX_DCOS_MAX_MODES ? SX_DCOS_MAX_MODES : m;
        int class = s == SX_DCOS_OK ? m : OKS + (s < 0 || s >= SXI_STATES ? SXI_STATES - 1 : s);
        fit->class[i] = (float)class;
        count[class]++;
        fit->ok += s == SX_DCOS_OK;
    }
    for (int c = 0; c < ALL; c++) {
        if (!count[c]) {
            continue;
        }
        sxi_class *name = &fit->name[fit->classes];
        const char *word = c < OKS ? NULL : sx_dcos_state_word(c - OKS);
        if (c < OKS) {
            snprintf(name->words, sizeof name->words, "%d mode%s: %lld", c, c == 1 ? "" : "s",
                     (long long)count[c]);
        } else {
            snprintf(name->words, sizeof name->words, "%s: %lld", word ? word : "unknown state",
                     (long long)count[c]);
        }
        name->colour = c < OKS ? class_colour(SX_DCOS_OK, c) : class_colour(c - OKS, 0);
        index[c] = fit->classes++;
    }
    for (int64_t i = 0; i < fit->npix; i++) {
        fit->class[i] = (float)index[(int)fit->class[i]];
    }
}

sx_status sxi_fit_read(sxi_fit_file *fit) {
    size_t n = (size_t)fit->npix;
    sx_status status = SX_OK;
    float **maps[] = {&fit->frequency, &fit->amplitude, &fit->decay,
                      &fit->phase,     &fit->chi2,      &fit->class};
    double *state = malloc(5 * n * sizeof *state);
    bool memory = state != NULL;
    for (size_t m = 0; m < sizeof maps / sizeof *maps; m++) {
        *maps[m] = malloc(n * sizeof **maps[m]);
        memory = memory && *maps[m];
        for (size_t i = 0; *maps[m] && i < n; i++) {
            (*maps[m])[i] = NAN;
        }
    }
    if (!memory) {
        status =
            SXI_FAIL(SX_ERR_MEMORY, "no memory for the maps of %lld pixels", (long long)fit->npix);
        goto out;
    }
    double *other = state + n;
    SXI_GO(sxi_fit_plane(fit, "/fit/state", -1, state));
    SXI_GO(sxi_fit_plane(fit, "/fit/modes", -1, other));
    classify(fit, state, other);
    SXI_GO(sxi_fit_plane(fit, "/fit/chi2", -1, other));
    for (size_t i = 0; i < n; i++) {
        fit->chi2[i] = state[i] == SX_DCOS_OK ? (float)other[i] : NAN;
    }
    SXI_GO(read_strongest(fit, state, other));
    for (size_t i = 0; fit->relative && i < n; i++) {
        fit->amplitude[i] *= 100;
    }
out:
    free(state);
    return status;
}

/* --- one pixel --- */

/* index [rank] of pixel number i. */
static void unravel(const sxi_fit_file *fit, int64_t i, int64_t *index) {
    for (int d = fit->rank - 1; d >= 0; d--) {
        index[d] = i % fit->shape[d];
        i /= fit->shape[d];
    }
}

/* NaN where the dataset is not there: the file of another background has none. */
static sx_status read_one(const sxi_fit_file *fit, const char *name, int64_t mode, int64_t pixel,
                          double *value) {
    char path[64];
    *value = (double)NAN;
    snprintf(path, sizeof path, "/fit/%s", name);
    if (!sxi_h5_exists(fit->h5, path)) {
        return SX_OK;
    }
    int64_t start[SX_MAX_RANK] = {mode};
    int64_t count[SX_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    bool stack = mode >= 0;
    unravel(fit, pixel, start + stack);
    sx_array array;
    SXI_TRY(sx_array_view(SX_F64, fit->rank + stack, count, value, &array));
    return sxi_h5_read_box(fit->h5, path, start, count, &array);
}

sx_status sxi_fit_pixel(const sxi_fit_file *fit, int64_t pixel, sx_dcos_fit *out) {
    double state, modes;
    SXI_TRY(read_one(fit, "state", -1, pixel, &state));
    SXI_TRY(read_one(fit, "modes", -1, pixel, &modes));
    const struct {
        const char *name;
        double *value;
    } singles[] = {{"offset", &out->offset},
                   {"offset_errors", &out->offset_error},
                   {"background_slope", &out->background_slope},
                   {"background_amplitude", &out->background_amplitude},
                   {"background_time", &out->background_time},
                   {"chi2", &out->chi2}};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) {
        SXI_TRY(read_one(fit, singles[i].name, -1, pixel, singles[i].value));
    }
    out->state = (uint8_t)state;
    out->modes = (uint8_t)(modes < SX_DCOS_MAX_MODES ? modes : SX_DCOS_MAX_MODES);
    out->modes = out->modes < fit->modes ? out->modes : (uint8_t)fit->modes;
    for (int m = 0; m < out->modes; m++) {
        sx_dcos_mode *mode = &out->mode[m];
        SXI_TRY(read_one(fit, "frequency", m, pixel, &mode->frequency));
        SXI_TRY(read_one(fit, "frequency_errors", m, pixel, &mode->frequency_error));
        SXI_TRY(read_one(fit, "amplitude", m, pixel, &mode->amplitude));
        SXI_TRY(read_one(fit, "amplitude_errors", m, pixel, &mode->amplitude_error));
        SXI_TRY(read_one(fit, "decay", m, pixel, &mode->decay));
        SXI_TRY(read_one(fit, "decay_errors", m, pixel, &mode->decay_error));
        SXI_TRY(read_one(fit, "phase", m, pixel, &mode->phase));
        SXI_TRY(read_one(fit, "phase_errors", m, pixel, &mode->phase_error));
    }
    return SX_OK;
}
