/* SPDX-License-Identifier: Apache-2.0
 * The main job: a cube into maps. */
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/output.h"
#include "base/text.h"
#include "engine/launcher.h"
#include "engine/ranks.h"
#include "engine/state.h"
#include "xani/fit/fit.h"
#include "xani/fit/fit_arguments.h"
#include "xani/fit/fit_key.h"

typedef struct job {
    const sx_xani_input *input;
    sx_cluster *cluster;
    const sx_context *context;
    sx_xani_fit_options options; /* settled */
    const char *output;
    sx_xani_fit_summary *summary;
    sxi_source *source;
    const sxi_source_info *info;
    sxi_fit_frame frame;
    sx_dcos_plan *plan;
    sxi_fit_samples samples;
    sxi_fit_maps maps;
    sxi_fit_work work;
    char *journal; /* NULL: without --resume */
    char *key;     /* the same on all ranks, and when it goes on */
} job;

/* --- what came of it --- */

/* Pixels are counted in their order, so that sums depend on nothing else. far: pixels in state ok whose
 * offset no relative change would have. */
static void summarise(const job *j, int64_t *far) {
    sx_xani_fit_summary *summary = j->summary;
    const uint8_t *state = sxi_fit_maps_values(&j->maps, "state");
    const uint8_t *modes = sxi_fit_maps_values(&j->maps, "modes");
    const double *chi2 = sxi_fit_maps_values(&j->maps, "chi2");
    const double *offset = sxi_fit_maps_values(&j->maps, "offset");
    double sum = 0;
    *far = 0;
    for (int64_t i = 0; i < summary->pixels; i++) {
        summary->state[state[i]]++;
        if (state[i] == SX_DCOS_OK) {
            summary->modes[modes[i]]++;
            sum += chi2[i];
            *far += fabs(offset[i]) > 0.5;
        }
    }
    const int64_t ok = summary->state[SX_DCOS_OK];
    summary->chi2_mean = ok > 0 ? sum / (double)ok : (double)NAN;
    if (summary->pixels == 1) {
        sxi_fit_maps_single(&j->maps, &summary->single);
    }
}

/* What looks like a wrong input though every pixel is as good as it says. */
static void remark(const job *j, int64_t far) {
    const sx_xani_fit_summary *summary = j->summary;
    int64_t ok = summary->state[SX_DCOS_OK], masked = summary->state[SX_DCOS_MASKED];
    if (2 * masked > summary->pixels) {
        sx_log(j->context, SX_LOG_WARNING,
               "%lld of %lld pixels have no usable sample; in a mask 0 is good, and sigma must be "
               "above 0",
               (long long)masked, (long long)summary->pixels);
    }
    int64_t bound = summary->state[SX_DCOS_AT_BOUND];
    if (10 * bound > summary->pixels - masked && j->options.dcos.background <= SX_BACKGROUND_NONE) {
        sx_log(j->context, SX_LOG_WARNING,
               "%lld pixels ended at a bound, often a sign of a background that is not constant: "
               "try --background exp or linear",
               (long long)bound);
    }
    if (summary->has_sigma && summary->chi2_mean < 0.5) {
        sx_log(
            j->context, SX_LOG_WARNING,
            "mean chi2 of ok pixels is %.3g: sigma is about %.1f times too large, and so are the "
            "errors",
            summary->chi2_mean, 1 / sqrt(summary->chi2_mean));
    }
    if (2 * far > ok && summary->pixels > 1) {
        sx_log(j->context, SX_LOG_WARNING,
               "the signal lies more than 0.5 from 0 in %lld of %lld ok pixels; on / off - 1 was "
               "expected, other signals give amplitudes in their own units",
               (long long)far, (long long)ok);
    }
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

/* How the maps came to be. */
static sx_status write_origin(const job *j, sxi_h5_writer *writer) {
    if (strncmp(j->info->layout, "sextant cube", 12) == 0) {
        SXI_TRY(pass_on(j->info, writer));
    }
    SXI_TRY(sxi_h5_inputs(writer, j->context, j->info->inputs, j->info->paths));
    SXI_TRY(sxi_h5_provenance(writer, j->context, 0, NULL));
    return sxi_fit_arguments_write(j->input, writer);
}

static sx_status finish(void *data) {
    const job *j = data;
    sxi_h5_writer *writer = NULL;
    sx_status status = SX_OK;
    const double start = sxi_now();
    int64_t far = 0;
    summarise(j, &far);
    remark(j, far);
    SXI_GO(sxi_h5_create(j->output, j->options.overwrite, &writer));
    SXI_GO(sxi_fit_maps_write(&j->maps, j->plan, writer));
    SXI_GO(write_origin(j, writer));
    SXI_GO(sxi_h5_commit(&writer));
    if (j->journal) {
        sx_journal_remove(j->journal);
    }
    j->summary->seconds_write = sxi_now() - start;
out:
    sxi_h5_abandon(&writer);
    return status;
}

/* --- the work --- */

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

/* Planes of the maps of modes. */
static int planes_of(const sx_dcos_options *options) {
    const int planes = options->fixed_modes ? options->modes : options->max_modes;
    return planes > 0 ? planes : options->fixed_modes ? 1 : SX_DCOS_MAX_MODES;
}

static void describe_job(const job *j) {
    const sxi_source_info *info = j->info;
    sx_xani_fit_summary *summary = j->summary;
    *summary = (sx_xani_fit_summary){.delays = info->nt,
                                     .delays_left_out = info->nt - sx_dcos_plan_used(j->plan),
                                     .has_sigma = info->has_sigma};
    summary->pixels = j->frame.segments * j->frame.rows * j->frame.columns;
    snprintf(summary->layout, sizeof summary->layout, "%s", info->layout);
    sx_dcos_plan_window(j->plan, &summary->frequency_lowest, &summary->frequency_highest);
    sx_log(j->context, SX_LOG_INFO, "input: %s", info->layout);
}

/* Where finished tiles are kept, with --resume. */
static sx_status name_journal(job *j) {
    sxi_text name = {0};
    sxi_text_add(&name, "%s.journal", j->output);
    char *journal = sxi_text_take(&name);
    if (journal && j->options.resume) {
        j->journal = journal;
        return SX_OK;
    }
    if (journal && access(journal, F_OK) == 0) {
        sx_log(
            j->context, SX_LOG_WARNING,
            "%s holds results of a run that did not end; this one begins anew, --resume would go "
            "on with it",
            journal);
    }
    free(journal);
    return journal ? SX_OK : SXI_FAIL(SX_ERR_MEMORY, "no memory for the name of a journal");
}

/* Maps that memory does not hold lie beside the output for a while. */
static sx_status choose_scratch(const job *j) {
    char *folder = strdup(j->output);
    const sx_status status = folder ? sxi_engine_scratch(j->cluster, dirname(folder))
                                    : SXI_FAIL(SX_ERR_MEMORY, "no memory for a name");
    free(folder);
    return status;
}

/* All that needs no work yet; each rank looks for itself. */
static sx_status prepare(job *j) {
    /* First without the inputs: opening them may take minutes. */
    SXI_TRY(sxi_output_check(j->output, j->options.overwrite, 0, NULL));
    SXI_TRY(sxi_source_open(j->input, j->context, &j->source));
    j->info = sxi_source_describe(j->source);
    SXI_TRY(sxi_output_check(j->output, j->options.overwrite, j->info->inputs, j->info->paths));
    SXI_TRY(settle_options(j->info, &j->options));
    SXI_TRY(sxi_fit_frame_make(j->info, &j->options, &j->frame));
    SXI_TRY(sx_dcos_plan_create(j->info->nt, j->info->delay_ps, &j->options.dcos, &j->plan));
    describe_job(j);
    SXI_TRY(name_journal(j));
    SXI_TRY(sxi_fit_key(j->input, &j->options, j->info, &j->key));
    SXI_TRY(choose_scratch(j));
    j->maps = (sxi_fit_maps){.info = j->info,
                             .options = &j->options,
                             .frame = &j->frame,
                             .modes = planes_of(&j->options.dcos)};
    return sxi_fit_work_create(j->plan, &j->maps, sx_threads(j->context), &j->work);
}

static sx_status fit_all(job *j) {
    int64_t tile[2];
    char tiles[64];
    sx_task_report report = {0};
    sxi_fit_frame_tile(&j->frame, j->info, j->options.tile, tile);
    snprintf(tiles, sizeof tiles, "row=%lld column=%lld", (long long)tile[0], (long long)tile[1]);
    sxi_fit_samples_declare(j->cluster, j->source, &j->frame, &j->samples);
    sxi_fit_maps_declare(j->cluster, &j->maps);
    sx_task task = {.name = "fit",
                    .tiles = tiles,
                    .cpu = sxi_fit_tile,
                    .data = &j->work,
                    .use = {{j->samples.y, "- row - -", SX_READ},
                            {j->samples.mask, "row - -", SX_READ},
                            {j->samples.sigma, j->samples.sigma ? "- row - -" : NULL, SX_READ}},
                    .journal = j->journal,
                    .key = j->key,
                    .resume = j->options.resume,
                    .report = &report};
    sxi_fit_maps_use(&j->maps, &task.use[j->samples.sigma ? 3 : 2]);
    const sx_status status = sx_task_run(&task);
    j->summary->seconds_read = report.waiting / j->work.threads;
    j->summary->seconds_fit = report.seconds - j->summary->seconds_read;
    return status;
}

static void job_free(job *j) {
    sxi_fit_work_destroy(&j->work);
    sxi_fit_maps_destroy(&j->maps);
    sxi_fit_samples_destroy(&j->samples);
    sx_dcos_plan_destroy(&j->plan);
    sxi_source_close(&j->source);
    free(j->journal);
    free(j->key);
}

static sx_status run(job *j) {
    SXI_TRY(sxi_ranks_agree(j->cluster, prepare(j)));
    SXI_TRY(fit_all(j));
    return sxi_ranks_once(j->cluster, finish, j);
}

static sx_status stopped(const job *j) {
    return j->journal && access(j->journal, F_OK) == 0
               ? SXI_FAIL(SX_ERR_CANCELLED,
                          "stopped; what is finished is kept in %s: go on with --resume",
                          j->journal)
               : SXI_FAIL(SX_ERR_CANCELLED,
                          "stopped; nothing was written. With --resume what is finished is kept to "
                          "go on with");
}

/* A process of its own is a cluster, too. */
static sx_status alone(sx_cluster **own) {
    SXI_TRY(sxi_launcher_alone("xani fit"));
    return sx_cluster_open(NULL, own);
}

sx_status sx_xani_fit(const sx_xani_input *input, const sx_xani_fit_options *options,
                      const char *output, sx_cluster *cluster, sx_xani_fit_summary *summary) {
    sx_xani_fit_summary ignored = {0};
    sx_cluster *own = NULL;
    if (!cluster) {
        SXI_TRY(alone(&own));
    }
    job j = {.input = input,
             .cluster = cluster ? cluster : own,
             .output = output,
             .summary = summary ? summary : &ignored};
    j.options = options ? *options : (sx_xani_fit_options){0};
    j.context = sxi_ranks_context(j.cluster);
    sx_status status = run(&j);
    status = status == SX_ERR_CANCELLED ? stopped(&j) : status;
    job_free(&j);
    sx_cluster_close(&own);
    return status;
}
