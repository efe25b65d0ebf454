/* SPDX-License-Identifier: Apache-2.0
 * LCLS smalldata: one file, a line per shot, frames among the datasets. */
#include <string.h>

#include "base/fail.h"
#include "xani/simulate/run.h"

static const char *const NAMES[SXI_PULSE_COLUMNS] = {
    "/ipm2/sum", "/lightStatus/laser", "/lightStatus/xray", "/enc/lasDelay",   "/tt/ttCorr",
    "/tt/AMPL",  "/tt/FLTPOSFWHM",     "/truth/delay",      "/truth/intensity"};

static const char *frames_of(const sxi_crystal_run *run) {
    return run->detector.raw ? "/detector/raw" : "/detector/calib";
}

/* Angles lie where the crystal says that they do. */
static sx_status write_constants(const sxi_crystal_run *run) {
    const sx_crystal *crystal = run->scene.crystal;
    const int64_t shots = run->options.shots;
    SXI_TRY(sxi_numbers_write(run->writer, "/ebeam/photon_energy", shots, run->scene.photon_energy,
                              "eV", "photon energy"));
    for (int a = 0; a < crystal->axes; a++) {
        if (crystal->axis[a].dataset) {
            SXI_TRY(sxi_numbers_write(run->writer, crystal->axis[a].dataset, shots,
                                      run->scene.angle[a], "deg", "angle of the goniometer"));
        }
    }
    return SX_OK;
}

static sx_status begin(sxi_crystal_run *run) {
    int64_t shape[4] = {run->options.shots};
    memcpy(shape + 1, run->scene.shape, sizeof run->scene.shape);
    SXI_TRY(sxi_h5_create(run->output, run->options.overwrite, &run->writer));
    SXI_TRY(sxi_h5_dataset_create(run->writer, frames_of(run), SX_U16, 1 + run->scene.rank, shape,
                                  run->detector.raw ? "ADU" : "photon", "frames of the detector"));
    SXI_TRY(sxi_columns_create(run->writer, NAMES, run->options.shots, 1));
    return write_constants(run);
}

static sx_status add(sxi_crystal_run *run, int64_t first, int64_t count) {
    const int64_t start[4] = {first};
    int64_t shape[4] = {count};
    sx_array frames;
    memcpy(shape + 1, run->scene.shape, sizeof run->scene.shape);
    SXI_TRY(sx_array_view(SX_U16, 1 + run->scene.rank, shape, run->frame, &frames));
    SXI_TRY(sxi_h5_write_box(run->writer, frames_of(run), start, &frames));
    return sxi_columns_write(run->writer, NAMES, first, count, 1, run->pulse);
}

/* What the first and second gain of every pixel are, as smalldata keeps them. */
static sx_status write_gains(const sxi_crystal_run *run, const char *name, const double value[2],
                             const char *unit, const char *sentence) {
    const int gains = run->options.gain_switch > 0 ? 2 : 1;
    int64_t shape[4] = {gains};
    sx_array array;
    memcpy(shape + 1, run->scene.shape, sizeof run->scene.shape);
    SXI_TRY(sx_array_create(SX_F32, 1 + run->scene.rank, shape, &array));
    for (int64_t i = 0; i < gains * run->scene.npix; i++) {
        ((float *)array.data)[i] = (float)value[i / run->scene.npix];
    }
    const sx_status status = sxi_h5_write(run->writer, name, &array, unit, sentence);
    sx_array_destroy(&array);
    return status;
}

static sx_status end(sxi_crystal_run *run) {
    const sx_xani_run_options *o = &run->options;
    const double pedestal[] = {o->pedestal, SXI_SECOND_PEDESTAL};
    const double gain[] = {o->gain, o->gain / SXI_SECOND_RATIO};
    if (run->detector.raw) {
        SXI_TRY(write_gains(run, "/UserDataCfg/detector/ped", pedestal, "ADU",
                            "pedestal of each gain"));
        SXI_TRY(write_gains(run, "/UserDataCfg/detector/gain", gain, "ADU/photon", "gains"));
    }
    return sxi_scene_write_good(&run->scene, run->writer, "/UserDataCfg/detector/mask");
}

const sxi_run_layout sxi_run_smalldata = {begin, add, end};
