/* SPDX-License-Identifier: Apache-2.0
 * Opens an input of any layout. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Tried in this order. A new layout is a file and a line here. */
static const sxi_layout *const layouts[] = {&sxi_layout_cube, &sxi_layout_lcls1,
                                            &sxi_layout_cropped, &sxi_layout_lcls2, NULL};

static bool is_table(const char *path) {
    static const char *const ends[] = {".csv", ".tsv", ".txt", ".dat"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (length > 4 && strcasecmp(path + length - 4, ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

static sx_status check_request(const sx_xani_input *input) {
    if (!input->cube && !input->signal) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "no input: give a cube, or --signal and --delay");
    }
    if (input->cube && input->signal) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "both the cube %s and --signal %s are given, one is needed", input->cube,
                        input->signal);
    }
    if (input->signal && !input->delay) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "--signal %s needs --delay FILE:/path", input->signal);
    }
    if (input->cube && input->sigma) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "--sigma goes with --signal; the cube %s brings its own errors or none",
                        input->cube);
    }
    if (!isfinite(input->delay_scale)) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "--delay-scale must be a finite number of ps per unit");
    }
    return SX_OK;
}

/* An option that would be ignored is refused. */
static sx_status check_options(const sx_xani_input *input, const char *layout, bool off,
                               bool detector, bool i0) {
    const struct {
        const char *given;
        const char *option;
        bool used;
    } options[] = {{input->off, "--off", off},
                   {input->detector, "--detector", detector},
                   {input->i0, "--i0", i0}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given && !options[i].used) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "%s %s has no meaning for %s (%s)", options[i].option,
                            options[i].given, input->cube ? input->cube : input->signal, layout);
        }
    }
    return SX_OK;
}

/* By whatever name: y would be 0 everywhere. */
static sx_status check_off(const char *on, const char *off) {
    struct stat first;
    struct stat second;
    if (stat(on, &first) == 0 && stat(off, &second) == 0 && first.st_dev == second.st_dev &&
        first.st_ino == second.st_ino) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "--off %s is the laser-on cube %s itself; give the cube of the laser-off "
                        "shots",
                        off, on);
    }
    return SX_OK;
}

static sx_status open_cube(sxi_source *source, const sxi_layout_request *request) {
    const sx_xani_input *input = request->input;
    sx_hdf5 *cube = NULL;
    sx_status status = sxi_source_file(source, input->cube, &cube);
    if (status == SX_ERR_FORMAT && strstr(sx_error_message(), "looks like text")) {
        return SXI_FAIL(status, "%s; a trace as text is known by .csv, .tsv, .txt or .dat",
                        sx_error_message());
    }
    SXI_TRY(status);
    for (int i = 0; layouts[i]; i++) {
        const sxi_layout *layout = layouts[i];
        if (!layout->recognise(cube)) {
            continue;
        }
        SXI_TRY(check_options(input, layout->name, layout->uses_off, layout->uses_detector,
                              layout->uses_i0));
        if (input->delay && layout != &sxi_layout_lcls2) {
            return SXI_FAIL(SX_ERR_ARGUMENT, "--delay goes with --signal; the %s %s has its own",
                            layout->name, input->cube);
        }
        if (input->off) {
            SXI_TRY(check_off(input->cube, input->off));
        }
        return layout->open(source, request);
    }
    return SXI_FAIL(SX_ERR_FORMAT,
                    "%s has no layout known here (looked for /cube/signal, binVar_bins, imgs with "
                    "scan_var, /laser_on); any datasets are read with --signal %s:/path --delay "
                    "%s:/path",
                    input->cube, input->cube, input->cube);
}

static sx_status open_any(sxi_source *source, const sxi_layout_request *request) {
    const sx_xani_input *input = request->input;
    if (input->signal) {
        SXI_TRY(check_options(input, "datasets", false, false, false));
        SXI_TRY(sxi_source_open_datasets(source, request));
    } else if (is_table(input->cube)) {
        SXI_TRY(check_options(input, "CSV trace", false, false, false));
        SXI_TRY(sxi_source_open_table(source, request));
    } else {
        SXI_TRY(open_cube(source, request));
    }
    if (input->mask) {
        sxi_stack mask;
        SXI_TRY(sxi_source_name(source, "--mask", input->mask, &mask));
        SXI_TRY(sxi_source_mask(source, &mask, false));
    }
    return SX_OK;
}

sx_status sxi_source_open(const sx_xani_input *input, const sx_context *context,
                          sxi_source **source) {
    *source = NULL;
    SXI_TRY(check_request(input));
    sxi_source *opened = calloc(1, sizeof *opened);
    if (!opened) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory to open %s",
                        input->cube ? input->cube : input->signal);
    }
    opened->context = context;
    const sxi_layout_request request = {input, context};
    sx_status status = open_any(opened, &request);
    if (status != SX_OK) {
        sxi_source_close(&opened);
        return status;
    }
    opened->info.delay_ps = opened->delay;
    opened->info.weight = opened->info.has_sigma ? NULL : opened->weight;
    opened->info.inputs = opened->files;
    opened->info.paths = (const char *const *)opened->path;
    *source = opened;
    return SX_OK;
}

void sxi_source_close(sxi_source **source) {
    if (!source || !*source) {
        return;
    }
    sxi_source *closed = *source;
    for (int i = 0; i < closed->files; i++) {
        sx_hdf5_close(&closed->file[i]);
        free(closed->path[i]);
    }
    free(closed->delay);
    free(closed->weight);
    free(closed->order);
    free(closed->empty);
    free(closed->mask);
    free(closed->trace);
    free(closed->sigma_t);
    free(closed->scale);
    free(closed->off);
    free(closed);
    *source = NULL;
}

const sxi_source_info *sxi_source_describe(const sxi_source *source) { return &source->info; }
