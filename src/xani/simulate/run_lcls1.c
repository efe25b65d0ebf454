/* SPDX-License-Identifier: Apache-2.0
 * LCLS1 cubes: two files, laser on and off, of sums over the shots of each delay bin. A bin is as wide
 * as a step of the nominal delay and lies around it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "xani/simulate/run.h"

static const char ON[] = "_on.h5", OFF[] = "_off.h5";

static sx_status open_files(sxi_crystal_run *run) {
    const size_t length = strlen(run->output), end = strlen(ON);
    if (length <= end || strcmp(run->output + length - end, ON) != 0) {
        return SXI_FAIL(SX_ERR_ARGUMENT,
                        "%s: an LCLS1 cube is two files: give a name that ends with %s, beside "
                        "which that with %s will lie",
                        run->output, ON, OFF);
    }
    char *off = malloc(length + sizeof OFF);
    if (!off) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the name of a file");
    }
    memcpy(off, run->output, length - end);
    memcpy(off + length - end, OFF, sizeof OFF);
    sx_status status = sxi_h5_create(run->output, run->options.overwrite, &run->writer);
    status = status == SX_OK ? sxi_h5_create(off, run->options.overwrite, &run->other) : status;
    free(off);
    return status;
}

/* Sums of a bin: frame, shots, monitor, delay; those with laser first. */
static size_t stride(const sxi_crystal_run *run) { return (size_t)run->scene.npix + 3; }

static double *sums_of(const sxi_crystal_run *run, bool laser, int64_t bin) {
    return run->sums + (size_t)((laser ? 0 : run->options.delays) + bin) * stride(run);
}

static sx_status begin(sxi_crystal_run *run) {
    run->sums = calloc(2 * (size_t)run->options.delays * stride(run), sizeof *run->sums);
    if (!run->sums) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for the sums of %lld bins",
                        (long long)run->options.delays);
    }
    return open_files(run);
}

/* -1: outside of all bins, or without X-rays. */
static int64_t bin_of(const sxi_crystal_run *run, const sxi_pulse *pulse) {
    const sx_xani_run_options *o = &run->options;
    const double delay = pulse->nominal + (pulse->laser ? pulse->tool : 0);
    const double bin = floor((delay - o->delay_first) / o->delay_step + 0.5);
    return pulse->xray && bin >= 0 && bin < (double)o->delays ? (int64_t)bin : -1;
}

static sx_status add(sxi_crystal_run *run, int64_t first, int64_t count) {
    (void)first;
    const int64_t npix = run->scene.npix;
    for (int64_t s = 0; s < count; s++) {
        const sxi_pulse *pulse = &run->pulse[s];
        const int64_t bin = bin_of(run, pulse);
        double *sum = bin < 0 ? NULL : sums_of(run, pulse->laser, bin);
        for (int64_t i = 0; sum && i < npix; i++) {
            sum[i] += run->frame[s * npix + i];
        }
        if (sum) {
            sum[npix]++;
            sum[npix + 1] += pulse->monitor;
            sum[npix + 2] += pulse->nominal + (pulse->laser ? pulse->tool : 0);
        }
    }
    return SX_OK;
}

static sx_status write_bins(const sxi_crystal_run *run, sxi_h5_writer *writer, bool laser) {
    static const char *const names[] = {"/detector_nEntries", "/ipm2__sum", "/binVar", "/nEntries",
                                        "/binVar_bins"};
    enum { NAMES = sizeof names / sizeof *names };
    const sx_xani_run_options *o = &run->options;
    sx_status status = SX_OK;
    sx_array column;
    SXI_TRY(sx_array_create(SX_F64, 1, &o->delays, &column));
    for (int n = 0; n < NAMES; n++) {
        for (int64_t b = 0; b < o->delays; b++) {
            const double *sum = sums_of(run, laser, b) + run->scene.npix;
            const double left = o->delay_first + ((double)b - 0.5) * o->delay_step;
            const double value[NAMES] = {sum[0], sum[1], sum[2], sum[0], left};
            ((double *)column.data)[b] = value[n];
        }
        SXI_GO(sxi_h5_write(writer, names[n], &column, "", ""));
    }
out:
    sx_array_destroy(&column);
    return status;
}

static sx_status write_cube(const sxi_crystal_run *run, sxi_h5_writer *writer, bool laser) {
    int64_t shape[4] = {run->options.delays};
    memcpy(shape + 1, run->scene.shape, sizeof run->scene.shape);
    SXI_TRY(sxi_h5_dataset_create(writer, "/detector_data", SX_F64, 1 + run->scene.rank, shape,
                                  run->detector.raw ? "ADU" : "photon", "sum over the shots"));
    shape[0] = 1;
    for (int64_t b = 0; b < run->options.delays; b++) {
        const int64_t start[4] = {b};
        sx_array frame;
        SXI_TRY(sx_array_view(SX_F64, 1 + run->scene.rank, shape, sums_of(run, laser, b), &frame));
        SXI_TRY(sxi_h5_write_box(writer, "/detector_data", start, &frame));
    }
    SXI_TRY(write_bins(run, writer, laser));
    return sxi_scene_write_good(&run->scene, writer, "/detector_cfg/mask");
}

static sx_status end(sxi_crystal_run *run) {
    SXI_TRY(write_cube(run, run->writer, true));
    return write_cube(run, run->other, false);
}

const sxi_run_layout sxi_run_lcls1_cube = {begin, add, end};
