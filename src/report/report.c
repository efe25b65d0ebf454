/* SPDX-License-Identifier: Apache-2.0
 * Which files a report is of, and its parts one after the other. */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

/* What traces and numbers of pixels may take, before compression. */
static const int64_t PIXEL_BYTES = 24LL << 20;

sx_status sxi_report_set(json_t *object, const char *key, json_t *value) {
    return json_object_set_new(object, key, value) == 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for the description of a report");
}

sx_status sxi_report_add(json_t *list, json_t *value) {
    return json_array_append_new(list, value) == 0
               ? SX_OK
               : SXI_FAIL(SX_ERR_MEMORY, "no memory for the description of a report");
}

void sxi_report_frame(const sxi_report *report, int64_t *rows, int64_t *width) {
    const sxi_fit_frame *frame = &report->fitted.frame;
    *rows = report->has_fit ? report->fit.rows : frame->segments * frame->rows;
    *width = report->has_fit ? report->fit.width : frame->columns;
}

/* --- the files --- */

static sx_status take_file(sxi_report *report, const char *path) {
    sx_hdf5 *file = NULL;
    const bool open = sx_hdf5_open(path, &file) == SX_OK; /* else a table, of a single trace */
    const bool fit = open && sxi_h5_exists(file, "/fit/frequency");
    const bool dispersion =
        open && (sxi_h5_exists(file, "/path/distance") || sxi_h5_exists(file, "/pixels/zone_h"));
    const char *kind = fit ? "fits" : dispersion ? "dispersions" : "no fits, so cubes";
    const char **slot = fit          ? &report->fit_path
                        : dispersion ? &report->dispersion_path
                                     : &report->cube_path;
    sx_hdf5_close(&file);
    if (*slot) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "%s and %s are both %s: give one of a kind", *slot, path,
                        kind);
    }
    *slot = path;
    return SX_OK;
}

/* A cube alone, with no fit to say how it was used. */
static sx_status open_cube(sxi_report *report) {
    static const sx_xani_fit_options whole;
    sxi_fitted *fitted = &report->fitted;
    fitted->arguments.input = (sx_xani_input){.cube = report->cube_path};
    SXI_TRY(sxi_source_open(&fitted->arguments.input, report->context, &fitted->source));
    fitted->info = sxi_source_describe(fitted->source);
    report->fit.relative = strstr(fitted->info->layout, "cube") != NULL;
    report->has_samples = true;
    return sxi_fit_frame_make(fitted->info, &whole, &fitted->frame);
}

static sx_status open_files(sxi_report *report) {
    if (!report->fit_path) {
        return report->cube_path ? open_cube(report) : SX_OK;
    }
    SXI_TRY(sxi_fit_open(report->fit_path, &report->fit));
    report->has_fit = true;
    SXI_TRY(sxi_fit_read(&report->fit));
    const sx_status status =
        sxi_fitted_open(&report->fit, report->cube_path, report->context, &report->fitted);
    report->has_samples = status == SX_OK;
    if (status != SX_OK && !report->cube_path) {
        sx_log(report->context, SX_LOG_INFO, "the report has no traces: %s", sx_error_message());
        return SX_OK;
    }
    return status;
}

/* --- the description --- */

static void choose_lattice(sxi_report *report) {
    int64_t rows, width, step = 1, each = sxi_report_pixel_bytes(report);
    sxi_report_frame(report, &rows, &width);
    if (report->has_samples) {
        each += report->fitted.info->nt * 2 * (report->fitted.info->has_sigma ? 2 : 1);
    }
    while ((rows / step + 1) * (width / step + 1) * each > PIXEL_BYTES && step < rows + width) {
        step++;
    }
    const int64_t best = report->has_fit && report->fit.best >= 0 ? report->fit.best : 0;
    sxi_report_lattice *lattice = &report->lattice;
    *lattice = (sxi_report_lattice){
        .step = step, .row0 = best / width % step, .column0 = best % width % step};
    lattice->rows = (rows - lattice->row0 + step - 1) / step;
    lattice->width = (width - lattice->column0 + step - 1) / step;
}

static sx_status describe_frame(sxi_report *report) {
    const sxi_report_lattice *lattice = &report->lattice;
    int64_t rows, width;
    sxi_report_frame(report, &rows, &width);
    SXI_TRY(sxi_report_set(
        report->description, "frame",
        json_pack("{s:I, s:I}", "rows", (json_int_t)rows, "width", (json_int_t)width)));
    SXI_TRY(sxi_report_set(
        report->description, "pixels",
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "step", (json_int_t)lattice->step, "row0",
                  (json_int_t)lattice->row0, "column0", (json_int_t)lattice->column0, "rows",
                  (json_int_t)lattice->rows, "width", (json_int_t)lattice->width)));
    const int64_t best =
        report->has_fit && report->fit.best >= 0 ? report->fit.best : rows / 2 * width + width / 2;
    return sxi_report_set(
        report->description, "pixel",
        json_pack("[I, I]", (json_int_t)(best / width), (json_int_t)(best % width)));
}

/* The axis of the traces and their units. */
static sx_status describe_signal(sxi_report *report) {
    const sxi_source_info *info = report->has_samples ? report->fitted.info : NULL;
    const bool relative = report->fit.relative;
    sx_status status = SX_OK;
    json_t *delay = json_array();
    for (int64_t t = 0; info && t < info->nt; t++) {
        SXI_GO(sxi_report_add(delay, json_real(info->delay_ps[t])));
    }
    SXI_GO(
        sxi_report_set(report->description, "signal",
                       json_pack("{s:O, s:b, s:b, s:s, s:i, s:f, s:f}", "delay", delay, "hasSigma",
                                 info ? info->has_sigma : !report->fit.no_sigma, "relative",
                                 relative, "unit", relative ? "%" : "", "scale", relative ? 100 : 1,
                                 "t0", report->fit.t0, "tStart", report->fit.t_start)));
out:
    json_decref(delay);
    return status;
}

/* What it is, in a line. */
static sx_status describe_words(sxi_report *report) {
    int64_t rows, width;
    char words[256];
    sxi_report_frame(report, &rows, &width);
    int used =
        snprintf(words, sizeof words, "%lld x %lld pixels", (long long)rows, (long long)width);
    if (report->has_samples) {
        const sxi_source_info *info = report->fitted.info;
        snprintf(words + used, sizeof words - (size_t)used,
                 ", %lld delays from %.3g to %.3g ps, %s", (long long)info->nt, info->delay_ps[0],
                 info->delay_ps[info->nt - 1], info->layout);
    }
    return sxi_report_set(report->description, "words", sxi_page_text(words));
}

static sx_status describe_states(sxi_report *report) {
    json_t *states = json_array();
    SXI_TRY(sxi_report_set(report->description, "states", states));
    for (int i = 0; sx_dcos_state_word(i); i++) {
        SXI_TRY(sxi_report_add(states, json_pack("{s:s, s:s}", "word", sx_dcos_state_word(i),
                                                 "sentence", sx_dcos_state_sentence(i))));
    }
    return SX_OK;
}

/* Name and provenance of a file: what sextant wrote into it. */
static sx_status describe_file(sxi_report *report, const char *path) {
    static const char *const names[] = {"command", "version", "commit", "date", "machine"};
    json_t *file = json_object();
    SXI_TRY(sxi_report_add(json_object_get(report->description, "files"), file));
    SXI_TRY(sxi_report_set(file, "path", sxi_page_text(path)));
    sx_hdf5 *h5 = NULL;
    if (sx_hdf5_open(path, &h5) != SX_OK) { /* a CSV */
        return SX_OK;
    }
    sx_status status = SX_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char place[64], text[4096];
        snprintf(place, sizeof place, "/provenance/%s", names[i]);
        if (sxi_h5_exists(h5, place) &&
            sxi_h5_read_text(h5, place, 0, text, sizeof text) == SX_OK) {
            SXI_GO(sxi_report_set(file, names[i], sxi_page_text(text)));
        }
    }
out:
    sx_hdf5_close(&h5);
    return status;
}

static sx_status describe_files(sxi_report *report) {
    const sx_xani_input *input = &report->fitted.arguments.input;
    const char *named = input->cube ? input->cube : NULL;
    if (report->fit_path) {
        SXI_TRY(describe_file(report, report->fit_path));
    }
    if (report->dispersion_path) {
        SXI_TRY(describe_file(report, report->dispersion_path));
    }
    return report->has_samples && named ? describe_file(report, named) : SX_OK;
}

static sx_status describe(sxi_report *report) {
    static const char *const lists[] = {"maps", "curves", "checks", "files"};
    report->description = json_object();
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        SXI_TRY(sxi_report_set(report->description, lists[i], json_array()));
    }
    const char *path = report->fit_path    ? report->fit_path
                       : report->cube_path ? report->cube_path
                                           : report->dispersion_path;
    const char *slash = strrchr(path, '/');
    SXI_TRY(sxi_report_set(report->description, "title", sxi_page_text(slash ? slash + 1 : path)));
    if (report->has_fit || report->has_samples) {
        SXI_TRY(describe_words(report));
        SXI_TRY(describe_frame(report));
        SXI_TRY(describe_signal(report));
    }
    SXI_TRY(describe_states(report));
    return describe_files(report);
}

static sx_status build(sxi_report *report) {
    SXI_TRY(open_files(report));
    if (report->has_fit || report->has_samples) {
        choose_lattice(report);
    }
    SXI_TRY(describe(report));
    SXI_TRY(sxi_report_maps(report));
    SXI_TRY(sxi_report_pixels(report));
    SXI_TRY(sxi_report_samples(report));
    SXI_TRY(sxi_report_run(report));
    return sxi_report_path(report);
}

sx_status sx_xani_report(int files, const char *const *paths, bool overwrite, const char *output,
                         const sx_context *context, sx_xani_report_summary *summary) {
    sxi_report report = {.context = context, .fit = {.best = -1}};
    sx_status status = SX_OK;
    for (int i = 0; i < files; i++) {
        SXI_GO(take_file(&report, paths[i]));
    }
    SXI_GO(sxi_page_create(output, overwrite, files, paths, &report.page));
    SXI_GO(build(&report));
    SXI_GO(sxi_page_commit(&report.page, report.description));
    if (summary) {
        *summary = report.summary;
    }
out:
    sxi_page_abandon(&report.page);
    json_decref(report.description);
    free(report.moments.square);
    sxi_fitted_close(&report.fitted);
    sxi_fit_close(&report.fit);
    return status;
}
