/* SPDX-License-Identifier: Apache-2.0
 * A simulated run of a crystal on its way into files. */
#ifndef SXI_XANI_RUN_H
#define SXI_XANI_RUN_H

#include "io/hdf5/h5file.h"
#include "xani/simulate/shots.h"

typedef struct sxi_crystal_run {
    sx_xani_run_options options;
    const sx_context *context;
    const char *output;
    sxi_scene scene;
    sxi_detector detector;
    sxi_h5_writer *writer; /* of output */
    sxi_h5_writer *other;  /* of a layout of two files */
    double *sums;          /* of a layout that adds shots */
    int64_t room;          /* shots of a block */
    uint16_t *frame;       /* [room][npix] */
    sxi_pulse *pulse;      /* [room] */
    float *scratch;        /* [threads][npix] */
} sxi_crystal_run;

/* How a run lies in files; docs/adding-a-layout.md is about reading them. */
typedef struct sxi_run_layout {
    /* Opens the files and makes what is in them. */
    sx_status (*begin)(sxi_crystal_run *run);
    /* Takes a block: shots first .. first + count - 1. count is a multiple of options.off_every but for
     * the last block. */
    sx_status (*add)(sxi_crystal_run *run, int64_t first, int64_t count);
    /* Writes what is left to be written; the truth and closing are the caller's. */
    sx_status (*end)(sxi_crystal_run *run);
} sxi_run_layout;

extern const sxi_run_layout sxi_run_smalldata, sxi_run_lcls1_cube, sxi_run_euxfel;

/* --- numbers of a shot: X(member of sxi_pulse, unit, sentence) --- */

#define SXI_PULSE_LIST(X)                                                                          \
    X(monitor, "1", "intensity monitor")                                                           \
    X(laser, "", "optical laser: 1 on, 0 off")                                                     \
    X(xray, "", "X-rays: 1 on, 0 dropped")                                                         \
    X(nominal, "ps", "nominal delay")                                                              \
    X(tool, "ps", "arrival time, to be added to the nominal delay")                                \
    X(tool_amplitude, "1", "amplitude of the edge of the time tool")                               \
    X(tool_width, "pixel", "width of the edge of the time tool")                                   \
    X(delay, "ps", "true delay; NaN without laser")                                                \
    X(intensity, "1", "intensity of the pulse, its mean being 1")

enum {
#define SXI_PULSE_ENUM(member, unit, sentence) SXI_PULSE_##member,
    SXI_PULSE_LIST(SXI_PULSE_ENUM)
#undef SXI_PULSE_ENUM
        SXI_PULSE_COLUMNS
};

/* sxi_columns_create, sxi_columns_write - a dataset for each of them, [shots] or, with per_row > 1,
 * [shots / per_row][per_row]. names [SXI_PULSE_COLUMNS] in the order of the list. */
sx_status sxi_columns_create(sxi_h5_writer *writer, const char *const *names, int64_t shots,
                             int64_t per_row);
sx_status sxi_columns_write(sxi_h5_writer *writer, const char *const *names, int64_t first,
                            int64_t count, int64_t per_row, const sxi_pulse *pulse);

/* sxi_numbers_write - a dataset [count] of one number. */
sx_status sxi_numbers_write(sxi_h5_writer *writer, const char *name, int64_t count, double value,
                            const char *unit, const char *sentence);

#endif
