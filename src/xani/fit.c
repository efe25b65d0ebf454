/* SPDX-License-Identifier: Apache-2.0
 * The main job: a cube, band by band, tile by tile, into maps. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sextant/cpu.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/output.h"
#include "xani/fit.h"
#include "xani/fit_arguments.h"

/* A band of a cube that can be read row by row is small, so that memory stays flat; stored chunks
 * are never read twice where they fit into memory. */
static const int64_t BAND_BYTES = 64LL << 20;
static const int64_t TILE_ROWS = 4, TILE_COLUMNS = 16;

typedef struct job {
    const sx_xani_fit_options *options;
    const sx_context *context;
    sxi_source *source;
    const sxi_source_info *info;
    sxi_fit_frame frame;
    sx_dcos_plan *plan;
    sxi_fit_output output;
    sx_xani_fit_summary *summary;
    int64_t pixels_done;
    double chi2_sum; /* of ok pixels */
    int64_t far;     /* ok pixels whose offset no relative change would have */
} job;

/* Why a team of threads stops: the first failure, carried from the worker to the caller, or a wish.
 */
typedef struct halt {
    bool wished; /* read and written atomically */
    sx_status status;
    char sentence[1024];
} halt;

static void halt_all(halt *h, sx_status status) {
#pragma omp critical(sxi_xani_fit_halt)
    if (h->status == SX_OK) {
        h->status = status;
        snprintf(h->sentence, sizeof h->sentence, "%s", sx_error_message());
    }
#pragma omp atomic write
    h->wished = true;
}

static bool halted(const halt *h) {
    bool wished;
#pragma omp atomic read
    wished = h->wished;
    return wished;
}

/* --- bands --- */

/* Output rows of a band: whole chunks if they fit into memory, and a band of BAND_BYTES at least.
 */
static int64_t band_rows(const job *j) {
    const sxi_source_info *info = j->info;
    sx_cpu cpu;
    sx_cpu_get(&cpu);
    int64_t row_bytes = info->nt * info->width * (int64_t)sx_dtype_size(info->dtype) *
                        (info->has_sigma ? 2 : 1) * j->frame.bin_y;
    int64_t most = cpu.memory_available > 0 ? cpu.memory_available / 4 * 3 : 4LL << 30;
    int64_t wanted = BAND_BYTES / row_bytes;
    int64_t chunk = (info->chunk_rows + j->frame.bin_y - 1) / j->frame.bin_y;
    if (chunk > 1) {
        wanted = (wanted + chunk - 1) / chunk * chunk;
    }
    wanted = wanted < most / row_bytes ? wanted : most / row_bytes;
    return wanted < 1 ? 1 : wanted > j->frame.rows ? j->frame.rows : wanted;
}

static void band_free(sxi_fit_band *band) {
    sx_array_destroy(&band->y);
    sx_array_destroy(&band->sigma);
    sx_array_destroy(&band->mask);
    free(band->fit);
    band->fit = NULL;
}

static sx_status stopped(const job *j, int64_t done) {
    return SXI_FAIL(SX_ERR_CANCELLED, "stopped after %lld of %lld pixels; nothing was written",
                    (long long)done, (long long)j->summary->pixels);
}

/* Output rows row0 .. of a segment, read from the source. */
static sx_status band_read(const job *j, int64_t segment, int64_t row0, int64_t rows,
                           sxi_fit_band *band) {
    const sxi_fit_frame *f = &j->frame;
    const sxi_source_info *info = j->info;
    sx_status status = SX_OK;
    int64_t first = f->y0 + row0 * f->bin_y, last = first + rows * f->bin_y;
    last = last < f->y1 ? last : f->y1;
    *band = (sxi_fit_band){.segment = segment,
                           .row0 = row0,
                           .rows = rows,
                           .stored0 = segment * f->segment_rows + first,
                           .stored = last - first};
    const int64_t shape[] = {info->nt, band->stored, info->width};
    SXI_GO(sx_array_create(info->dtype, 3, shape, &band->y));
    SXI_GO(sx_array_create(SX_U8, 2, shape + 1, &band->mask));
    if (info->has_sigma) {
        SXI_GO(sx_array_create(info->dtype, 3, shape, &band->sigma));
    }
    band->fit = malloc((size_t)(rows * f->columns) * sizeof *band->fit);
    if (!band->fit) {
        status = SXI_FAIL(SX_ERR_MEMORY, "no memory for the fits of %lld pixels",
                          (long long)(rows * f->columns));
        goto out;
    }
    status = sxi_source_read(j->source, band->stored0, band->stored, &band->y,
                             info->has_sigma ? &band->sigma : NULL, &band->mask);
    if (status == SX_ERR_CANCELLED) {
        status = stopped(j, j->pixels_done);
    }
out:
    if (status != SX_OK) {
        band_free(band);
    }
    return status;
}

/* --- tiles --- */

typedef struct scratch {
    double *y, *sigma;
    sx_dcos_fit *fit;
} scratch;

static bool scratch_create(int64_t pixels, int64_t nt, scratch *s) {
    s->y = malloc((size_t)(pixels * nt) * sizeof *s->y);
    s->sigma = malloc((size_t)(pixels * nt) * sizeof *s->sigma);
    s->fit = malloc((size_t)pixels * sizeof *s->fit);
    return s->y && s->sigma && s->fit;
}

static void scratch_free(scratch *s) {
    free(s->y);
    free(s->sigma);
    free(s->fit);
}

static sx_status fit_tile(const job *j, const sxi_fit_band *band, const int64_t box[4],
                          scratch *s) {
    int64_t nt = j->info->nt, pixels = 0;
    bool sigma = sxi_fit_gathers_sigma(&j->frame, band);
    for (int64_t r = box[0]; r < box[1]; r++) {
        for (int64_t c = box[2]; c < box[3]; c++, pixels++) {
            sxi_fit_gather(&j->frame, band, j->info->weight, r, c, s->y + pixels * nt,
                           s->sigma + pixels * nt);
        }
    }
    SXI_TRY(sx_dcos_fit_tile(j->plan, pixels, s->y, sigma ? s->sigma : NULL, j->info->weight, NULL,
                             s->fit));
    pixels = 0;
    for (int64_t r = box[0]; r < box[1]; r++) {
        int64_t count = box[3] - box[2];
        memcpy(&band->fit[r * j->frame.columns + box[2]], &s->fit[pixels],
               (size_t)count * sizeof *s->fit);
        pixels += count;
    }
    return SX_OK;
}

static void report(job *j, int64_t pixels, halt *h) {
    int64_t done;
#pragma omp atomic capture
    done = j->pixels_done += pixels;
    if (omp_get_thread_num() == 0) {
        sx_progress(j->context, "pixels", done, j->summary->pixels);
    }
    if (sx_cancelled(j->context)) {
        halt_all(h, stopped(j, done));
    }
}

/* All tiles of a band over the threads; the first failure, or a wish to stop, ends the rest. */
static sx_status band_fit(job *j, sxi_fit_band *band) {
    const int64_t *wish = j->options->tile;
    int64_t tr = wish[0] > 0 ? wish[0] : TILE_ROWS, tc = wish[1] > 0 ? wish[1] : TILE_COLUMNS;
    tr = tr < band->rows ? tr : band->rows;
    tc = tc < j->frame.columns ? tc : j->frame.columns;
    int64_t across = (j->frame.columns + tc - 1) / tc, down = (band->rows + tr - 1) / tr;
    halt h = {.status = SX_OK};
#pragma omp parallel num_threads(sx_threads(j->context))
    {
        scratch s = {0};
        if (!scratch_create(tr * tc, j->info->nt, &s)) {
            halt_all(&h, SXI_FAIL(SX_ERR_MEMORY, "no memory for a tile of %lldx%lld pixels",
                                  (long long)tr, (long long)tc));
        }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
        for (int64_t tile = 0; tile < across * down; tile++) {
            if (halted(&h)) {
                continue;
            }
            int64_t r = tile / across * tr, c = tile % across * tc;
            const int64_t box[4] = {r, r + tr < band->rows ? r + tr : band->rows, c,
                                    c + tc < j->frame.columns ? c + tc : j->frame.columns};
            sx_status status = fit_tile(j, band, box, &s);
            if (status != SX_OK) {
                halt_all(&h, status);
            }
            report(j, (box[1] - box[0]) * (box[3] - box[2]), &h);
        }
        scratch_free(&s);
    }
    return h.status == SX_OK ? SX_OK : SXI_FAIL(h.status, "%s", h.sentence);
}

static void summarise(job *j, const sxi_fit_band *band) {
    sx_xani_fit_summary *summary = j->summary;
    if (summary->pixels == 1) {
        summary->single = band->fit[0];
    }
    for (int64_t i = 0; i < band->rows * j->frame.columns; i++) {
        const sx_dcos_fit *fit = &band->fit[i];
        summary->state[fit->state]++;
        if (fit->state == SX_DCOS_OK) {
            summary->modes[fit->modes]++;
            j->chi2_sum += fit->chi2;
            j->far += fabs(fit->offset) > 0.5;
        }
    }
}

/* What looks like a wrong input though every pixel is as good as it says. */
static void remark(job *j) {
    sx_xani_fit_summary *summary = j->summary;
    int64_t ok = summary->state[SX_DCOS_OK], masked = summary->state[SX_DCOS_MASKED];
    summary->chi2_mean = ok > 0 ? j->chi2_sum / (double)ok : (double)NAN;
    if (2 * masked > summary->pixels) {
        sx_log(j->context, SX_LOG_WARNING,
               "%lld of %lld pixels have no usable sample; in a mask 0 is good, and sigma must be "
               "above 0",
               (long long)masked, (long long)summary->pixels);
    }
    int64_t bound = summary->state[SX_DCOS_AT_BOUND];
    if (10 * bound > summary->pixels - masked &&
        j->options->dcos.background <= SX_BACKGROUND_NONE) {
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
    if (2 * j->far > ok && summary->pixels > 1) {
        sx_log(j->context, SX_LOG_WARNING,
               "the signal lies more than 0.5 from 0 in %lld of %lld ok pixels; on / off - 1 was "
               "expected, other signals give amplitudes in their own units",
               (long long)j->far, (long long)ok);
    }
}

static sx_status fit_bands(job *j, sxi_h5_writer *writer) {
    int64_t rows = band_rows(j);
    for (int64_t segment = 0; segment < j->frame.segments; segment++) {
        for (int64_t row0 = 0; row0 < j->frame.rows; row0 += rows) {
            int64_t left = j->frame.rows - row0;
            double start = sxi_now();
            sxi_fit_band band;
            SXI_TRY(band_read(j, segment, row0, left < rows ? left : rows, &band));
            double read = sxi_now();
            sx_status status = band_fit(j, &band);
            double fitted = sxi_now();
            if (status == SX_OK) {
                summarise(j, &band);
                status = sxi_fit_output_write(&j->output, &band, writer);
            }
            band_free(&band);
            SXI_TRY(status);
            j->summary->seconds_read += read - start;
            j->summary->seconds_fit += fitted - read;
            j->summary->seconds_write += sxi_now() - fitted;
        }
    }
    return SX_OK;
}

/* --- the whole --- */

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

static void describe_job(const job *j, sx_xani_fit_summary *summary) {
    *summary = (sx_xani_fit_summary){.delays = j->info->nt,
                                     .delays_left_out = j->info->nt - sx_dcos_plan_used(j->plan),
                                     .has_sigma = j->info->has_sigma};
    summary->pixels = j->frame.segments * j->frame.rows * j->frame.columns;
    snprintf(summary->layout, sizeof summary->layout, "%s", j->info->layout);
    sx_dcos_plan_window(j->plan, &summary->frequency_lowest, &summary->frequency_highest);
    sx_log(j->context, SX_LOG_INFO, "input: %s", j->info->layout);
}

sx_status sx_xani_fit(const sx_xani_input *input, const sx_xani_fit_options *options,
                      const char *output, const sx_context *context, sx_xani_fit_summary *summary) {
    sx_status status = SX_OK;
    sx_xani_fit_summary ignored = {0};
    sx_xani_fit_options settled = options ? *options : (sx_xani_fit_options){0};
    sxi_h5_writer *writer = NULL;
    job j = {.options = &settled, .context = context, .summary = summary ? summary : &ignored};
    /* First without the inputs: opening them may take minutes. */
    SXI_GO(sxi_output_check(output, settled.overwrite, 0, NULL));
    SXI_GO(sxi_source_open(input, context, &j.source));
    j.info = sxi_source_describe(j.source);
    SXI_GO(sxi_output_check(output, settled.overwrite, j.info->inputs, j.info->paths));
    SXI_GO(settle_options(j.info, &settled));
    SXI_GO(sxi_fit_frame_make(j.info, &settled, &j.frame));
    SXI_GO(sx_dcos_plan_create(j.info->nt, j.info->delay_ps, &settled.dcos, &j.plan));
    describe_job(&j, j.summary);
    int planes = settled.dcos.fixed_modes ? settled.dcos.modes
                 : settled.dcos.max_modes ? settled.dcos.max_modes
                                          : SX_DCOS_MAX_MODES;
    j.output = (sxi_fit_output){
        .info = j.info, .options = &settled, .frame = &j.frame, .modes = planes > 0 ? planes : 1};
    SXI_GO(sxi_h5_create(output, settled.overwrite, &writer));
    SXI_GO(sxi_fit_output_create(&j.output, j.plan, writer));
    SXI_GO(fit_bands(&j, writer));
    remark(&j);
    if (strncmp(j.info->layout, "sextant cube", 12) == 0) {
        SXI_GO(pass_on(j.info, writer));
    }
    SXI_GO(sxi_h5_provenance(writer, context, j.info->inputs, j.info->paths));
    SXI_GO(sxi_fit_arguments_write(input, writer));
    SXI_GO(sxi_h5_commit(&writer));
    sx_progress(context, "pixels", j.summary->pixels, j.summary->pixels);
out:
    sxi_h5_abandon(&writer);
    sx_dcos_plan_destroy(&j.plan);
    sxi_source_close(&j.source);
    return status;
}
