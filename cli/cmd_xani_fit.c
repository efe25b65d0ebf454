/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include <sextant/xani.h>

#include "command.h"
#include "fit_summary.h"

typedef struct values {
    cli_ranks ranks;
    const char *output;
    const char *off, *signal, *delay, *sigma, *mask, *detector, *i0;
    double delay_scale;
    bool has_delay_scale;
    int modes; /* 0: auto; else one more than the number */
    int64_t max_modes;
    bool has_max_modes;
    int background, init, scale, backend, precision;
    double t0, t_start, irf_fwhm;
    bool has_t_start, has_roi, resume;
    int64_t bin[2], roi[4], tile[2];
} values;

static const values defaults = {.max_modes = SX_DCOS_MAX_MODES, .bin = {1, 1}};

/* The words of a choice stand in the order of the enum that they choose from. */
static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the fit.h5 to write; required"),
    CLI_OPTION(values, off, TEXT, "off", "FILE", "laser-off file of an LCLS1 or cropped cube"),
    CLI_OPTION(
        values, signal, TEXT, "signal", "FILE:/path",
        "dataset with the relative change, [T,H,W], [T,N], [T,S,H,W] or [T], instead of CUBE"),
    CLI_OPTION(values, delay, TEXT, "delay", "FILE:/path", "dataset with the delays [T]"),
    CLI_OPTION(values, sigma, TEXT, "sigma", "FILE:/path",
               "dataset with the 1-sigma errors of the signal"),
    CLI_OPTION(values, mask, TEXT, "mask", "FILE:/path", "dataset of one frame, 0 is good"),
    CLI_OPTION(values, detector, TEXT, "detector", "NAME",
               "which detector of a file that holds several"),
    CLI_OPTION(values, i0, TEXT, "i0", "NAME",
               "which intensity monitor, such as ipm2; default: by the layout of the file"),
    CLI_GIVEN(
        values, delay_scale, has_delay_scale, REAL, "delay-scale", "PS",
        "ps per unit of the delays, negative flips them; needed where the file names no unit"),
    CLI_OPTION(values, modes, CHOICE, "modes", "auto|0|1|2|3|4",
               "number of oscillations in every pixel; default auto: as many as are significant"),
    {"max-modes", 0, SX_OPTION_INT, offsetof(values, max_modes),
     (ptrdiff_t)offsetof(values, has_max_modes), "N",
     "with --modes auto, at most this many; default 4", 1, SX_DCOS_MAX_MODES},
    CLI_OPTION(values, background, CHOICE, "background", "constant|none|linear|exp",
               "what the oscillations sit on; default constant, exp for a pumped crystal that "
               "relaxes"),
    CLI_OPTION(values, bin, SIZE, "bin", "NyxNx", "add neighbouring pixels; default 1x1"),
    CLI_RANGE(values, irf_fwhm, REAL, "irf-fwhm", "PS",
              "time resolution, full width at half maximum; adds amplitudes corrected for it", 0,
              1e6),
    CLI_OPTION(values, t0, REAL, "t0", "PS",
               "time zero, where phases and amplitudes hold; default 0"),
    CLI_GIVEN(values, t_start, has_t_start, REAL, "t-start", "PS",
              "leave out samples before this delay; default: --t0"),
    CLI_GIVEN(values, roi, has_roi, BOX, "roi", "y0:y1,x0:x1",
              "fit this part of the frame, the ends not included"),
    CLI_OPTION(values, tile, SIZE, "tile", "HxW",
               "pixels of one piece of work; does not change the result"),
    CLI_OPTION(
        values, backend, CHOICE, "backend", "auto|c|avx2|avx512|cuda",
        "which kernels compute; default auto: what SX_CPU names, else the best of this processor"),
    CLI_OPTION(values, precision, CHOICE, "precision", "double|mixed",
               "default double; mixed: single precision on the way, double at the end"),
    CLI_OPTION(values, init, CHOICE, "init", "bank|esprit|lpsvd",
               "where start values come from; default bank, esprit and lpsvd need uniform delays"),
    CLI_OPTION(values, scale, CHOICE, "sigma-scale", "auto|absolute|residual",
               "errors from sigma as it is, or scaled to the residuals; default auto: absolute if "
               "sigma is known"),
    CLI_FLAG(values, resume, "resume", 0,
             "keep what is finished in OUTPUT.journal until the end, and go on with what is there"),
    CLI_RANKS_OPTIONS,
    CLI_COMMON_OPTIONS};

/* Exactly one kind of input. */
static sx_status check_input(cli_call *call, const values *v) {
    if (call->count == 0 && !v->signal) {
        return cli_fail(call, SX_ERR_USAGE,
                        "there is nothing to fit: name a CUBE, or --signal and --delay");
    }
    if (call->count > 0 && (v->signal || v->delay || v->sigma)) {
        return cli_fail(call, SX_ERR_USAGE,
                        "CUBE %s brings its own signal, delay and sigma: leave out %s",
                        call->arguments[0],
                        v->signal  ? "--signal"
                        : v->delay ? "--delay"
                                   : "--sigma");
    }
    if (v->signal && !v->delay) {
        return cli_fail(call, SX_ERR_USAGE, "--signal needs --delay FILE:/path beside it");
    }
    if (v->signal && v->off) {
        return cli_fail(call, SX_ERR_USAGE, "--off belongs to a CUBE, not to --signal");
    }
    if (v->has_delay_scale && v->delay_scale == 0.0) {
        return cli_fail(call, SX_ERR_USAGE, "--delay-scale is 0, which puts all delays at 0");
    }
    return SX_OK;
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    sx_status status = cli_need(call, v->output, "-o FILE");
    if (status == SX_OK) {
        status = check_input(call, v);
    }
    if (status == SX_OK && v->modes > 0 && v->has_max_modes && v->modes - 1 > v->max_modes) {
        status = cli_fail(call, SX_ERR_USAGE, "--modes %d is more than --max-modes %lld",
                          v->modes - 1, (long long)v->max_modes);
    }
    if (status != SX_OK) {
        return status;
    }
    const sx_xani_input input = {.cube = call->count > 0 ? call->arguments[0] : NULL,
                                 .off = v->off,
                                 .signal = v->signal,
                                 .delay = v->delay,
                                 .sigma = v->sigma,
                                 .mask = v->mask,
                                 .detector = v->detector,
                                 .i0 = v->i0,
                                 .delay_scale = v->delay_scale};
    sx_xani_fit_options fit = {.dcos = {.fixed_modes = v->modes > 0,
                                        .modes = v->modes - 1,
                                        .max_modes = (int)v->max_modes,
                                        .background = (sx_dcos_background)v->background,
                                        .init = (sx_dcos_init)v->init,
                                        .backend = (sx_dcos_backend)v->backend,
                                        .precision = (sx_dcos_precision)v->precision,
                                        .scale = (sx_dcos_scale)v->scale,
                                        .t0 = v->t0,
                                        .t_start = v->t_start,
                                        .has_t_start = v->has_t_start},
                               .has_roi = v->has_roi,
                               .irf_fwhm = v->irf_fwhm,
                               .resume = v->resume,
                               .overwrite = v->ranks.common.overwrite};
    if (v->modes == 0) {
        fit.dcos.modes = 0;
    }
    memcpy(fit.bin, v->bin, sizeof fit.bin);
    memcpy(fit.roi, v->roi, sizeof fit.roi);
    memcpy(fit.tile, v->tile, sizeof fit.tile);
    sx_xani_fit_summary summary = {0};
    status = sx_xani_fit(&input, &fit, v->output, call->cluster, &summary);
    if (status != SX_OK || !sx_cluster_speaks(call->cluster)) {
        return status;
    }
    const char *name = input.cube ? input.cube : input.signal;
    if (v->ranks.common.json) {
        return cli_fit_summary_json(&summary, name, v->output);
    }
    return v->ranks.common.quiet ? SX_OK : cli_fit_summary_print(&summary, name, v->output);
}

const cli_command cli_xani_fit = {
    .group = "xani",
    .name = "fit",
    .help = {"sextant xani fit", "fit damped cosines to every pixel of a pump-probe cube",
             "[CUBE | --signal FILE:/path --delay FILE:/path] -o fit.h5 [options]",
             "CUBE is a cube of sextant, of LCLS1 (with --off) or LCLS2, a cropped cube, or a\n"
             "CSV with one trace (t, y, sigma). FILE:/path names a dataset of an HDF5 file.\n"
             "The model is y(t) = background + sum of A exp(-g t') cos(2 pi f t' + p), where\n"
             "t' = t - t0. Delays are in ps, frequencies in THz, decays in 1/ps.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .most = 1,
    .ranked = true,
    .run = run,
};
