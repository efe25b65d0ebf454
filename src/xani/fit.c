/* SPDX-License-Identifier: Apache-2.0
 * The main job: a cube into maps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/output.h"
#include "engine/launcher.h"
#include "xani/fit.h"
#include "xani/fit_arguments.h"

/* What looks like a wrong input though every pixel is as good as it says. */
static void remark(const sxi_fit_run *run) {
    sx_xani_fit_summary *summary = run->summary;
    int64_t ok = summary->state[SX_DCOS_OK], masked = summary->state[SX_DCOS_MASKED];
    summary->chi2_mean = ok > 0 ? run->chi2_sum / (double)ok : (double)NAN;
    if (2 * masked > summary->pixels) {
        sx_log(run->context, SX_LOG_WARNING,
               "%lld of %lld pixels have no usable sample; in a mask 0 is good, and sigma must be "
               "above 0",
               (long long)masked, (long long)summary->pixels);
    }
    int64_t bound = summary->state[SX_DCOS_AT_BOUND];
    if (10 * bound > summary->pixels - masked &&
        run->output.options->dcos.background <= SX_BACKGROUND_NONE) {
        sx_log(run->context, SX_LOG_WARNING,
               "%lld pixels ended at a bound, often a sign of a background that is not constant: "
               "try --background exp or linear",
               (long long)bound);
    }
    if (summary->has_sigma && summary->chi2_mean < 0.5) {
        sx_log(
            run->context, SX_LOG_WARNING,
            "mean chi2 of ok pixels is %.3g: sigma is about %.1f times too large, and so are the "
            "errors",
            summary->chi2_mean, 1 / sqrt(summary->chi2_mean));
    }
    if (2 * run->far > ok && summary->pixels > 1) {
        sx_log(run->context, SX_LOG_WARNING,
               "the signal lies more than 0.5 from 0 in %lld of %lld ok pixels; on / off - 1 was "
               "expected, other signals give amplitudes in their own units",
               (long long)run->far, (long long)ok);
    }
}

/* The scale of errors is settled here, where it is known whether sigma is real: binning makes one
 * of its own. */
static sx_status settle_options(const sxi_source_info *info, sx_xani_fit_options *options) {
    if (options->dcos.scale == SX_SCALE_ABSOLUTE && !info->has_sigma) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "absolute errors need sigma, and %s (%s) has none: give "
                        "--sigma FILE:/path or choose --sigma-scale residual",
                        info->paths[0], info->layout);
    }
    if (options->dcos.scale == SX_SCALE_AUTO) {
        options->dcos.scale = info->has_sigma ? SX_SCALE_ABSOLUTE : SX_SCALE_RESIDUAL;
    }
    if (options->irf_fwhm < 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "a pulse length of %g ps is negative", options->irf_fwhm);
    }
    return SX_OK;
}

/* What later steps need of our own cube: bin edges, photon energy, goniometer angles and the like.
 */
typedef struct passing {
    sx_hdf5 *file;
    sxi_h5_writer *writer;
    sx_status status;
} passing;

static bool pass_one(void *data, const char *member, bool is_group) {
    static const char *const fitted[] = {"signal",   "sigma",     "delay", "mask", "count",
                                         "off_mean", "off_error", "y",     "x"};
    passing *p = data;
    char from[256], to[256], sentence[256];
    sx_hdf5_dataset described;
    sx_array array = {0};
    for (size_t i = 0; i < sizeof fitted / sizeof *fitted; i++) {
        is_group = is_group || strcmp(member, fitted[i]) == 0;
    }
    if (is_group) {
        return true;
    }
    snprintf(from, sizeof from, "/cube/%s", member);
    snprintf(to, sizeof to, "/cube/%s", member);
    p->status = sx_hdf5_describe(p->file, from, &described);
    if (p->status != SX_OK || !described.numeric) {
        return p->status == SX_OK;
    }
    if (sxi_h5_attribute_text(p->file, from, "long_name", sentence, sizeof sentence) != SX_OK) {
        sentence[0] = '\0';
    }
    p->status = sxi_h5_read(p->file, from, NULL, &array);
    if (p->status == SX_OK) {
        p->status = sxi_h5_write(p->writer, to, &array, described.unit, sentence);
    }
    sx_array_destroy(&array);
    return p->status == SX_OK;
}

static sx_status pass_on(const sxi_source_info *info, sxi_h5_writer *writer) {
    passing p = {.writer = writer};
    sx_status status = SX_OK;
    SXI_TRY(sx_hdf5_open(info->paths[0], &p.file));
    SXI_GO(sxi_h5_members(p.file, "/cube", pass_one, &p));
    status = p.status;
out:
    sx_hdf5_close(&p.file);
    return status;
}

static void describe_job(const sxi_fit_run *run) {
    const sxi_source_info *info = run->output.info;
    const sxi_fit_frame *frame = run->output.frame;
    sx_xani_fit_summary *summary = run->summary;
    *summary = (sx_xani_fit_summary){.delays = info->nt,
                                     .delays_left_out = info->nt - sx_dcos_plan_used(run->plan),
                                     .has_sigma = info->has_sigma};
    summary->pixels = frame->segments * frame->rows * frame->columns;
    snprintf(summary->layout, sizeof summary->layout, "%s", info->layout);
    sx_dcos_plan_window(run->plan, &summary->frequency_lowest, &summary->frequency_highest);
    sx_log(run->context, SX_LOG_INFO, "input: %s", info->layout);
}

/* Planes of the maps of modes. */
static int planes_of(const sx_dcos_options *options) {
    const int planes = options->fixed_modes ? options->modes : options->max_modes;
    return planes > 0 ? planes : options->fixed_modes ? 1 : SX_DCOS_MAX_MODES;
}

/* Of a tile; one too large for any band is cut to it later. */
static int64_t pixels_of(const int64_t tile[2]) {
    const int64_t most = 1 << 24;
    return (tile[0] < most ? tile[0] : most) * (tile[1] < most ? tile[1] : most);
}

/* How the maps came to be. */
static sx_status write_origin(const sxi_fit_run *run, const sx_xani_input *input) {
    const sxi_source_info *info = run->output.info;
    if (strncmp(info->layout, "sextant cube", 12) == 0) {
        SXI_TRY(pass_on(info, run->writer));
    }
    SXI_TRY(sxi_h5_provenance(run->writer, run->context, 0, NULL));
    return sxi_fit_arguments_write(input, run->writer);
}

/* options are settled. */
static sx_status run_job(const sx_xani_input *input, const sx_xani_fit_options *options,
                         const char *output, sxi_fit_run *run) {
    sx_status status = SX_OK;
    run->output.options = options;
    run->output.modes = planes_of(&options->dcos);
    run->piece = pixels_of(options->tile);
    describe_job(run);
    SXI_GO(sxi_h5_create(output, options->overwrite, &run->writer));
    SXI_GO(sxi_fit_output_create(&run->output, run->plan, run->writer));
    SXI_GO(sxi_fit_run_all(run));
    remark(run);
    const double start = sxi_now();
    SXI_GO(write_origin(run, input));
    SXI_GO(sxi_h5_commit(&run->writer));
    run->summary->seconds_write += sxi_now() - start;
    sx_progress(run->context, "pixels", run->summary->pixels, run->summary->pixels);
out:
    sxi_h5_abandon(&run->writer);
    return status;
}

sx_status sx_xani_fit(const sx_xani_input *input, const sx_xani_fit_options *options,
                      const char *output, const sx_context *context, sx_xani_fit_summary *summary) {
    sx_status status = SX_OK;
    sx_xani_fit_summary ignored = {0};
    sx_xani_fit_options settled = options ? *options : (sx_xani_fit_options){0};
    sxi_source *source = NULL;
    sx_dcos_plan *plan = NULL;
    sxi_fit_frame frame;
    /* First without the inputs: opening them may take minutes. */
    SXI_GO(sxi_launcher_alone("xani fit"));
    SXI_GO(sxi_output_check(output, settled.overwrite, 0, NULL));
    SXI_GO(sxi_source_open(input, context, &source));
    const sxi_source_info *info = sxi_source_describe(source);
    SXI_GO(sxi_output_check(output, settled.overwrite, info->inputs, info->paths));
    SXI_GO(settle_options(info, &settled));
    SXI_GO(sxi_fit_frame_make(info, &settled, &frame));
    SXI_GO(sx_dcos_plan_create(info->nt, info->delay_ps, &settled.dcos, &plan));
    sxi_fit_run run = {.source = source,
                       .plan = plan,
                       .output = {.info = info, .frame = &frame},
                       .context = context,
                       .summary = summary ? summary : &ignored};
    status = run_job(input, &settled, output, &run);
out:
    sx_dcos_plan_destroy(&plan);
    sxi_source_close(&source);
    return status;
}
