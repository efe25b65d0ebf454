/* SPDX-License-Identifier: Apache-2.0
 * Cropped LCLS cubes, as users cut them out: imgs [n, y, x], scan_var [n], i0 and i0_* [n],
 * bin_count [n], all sums over the shots of a bin, in an on and an off file. */
#include "xani/source/source_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool recognise(sx_hdf5 *cube) {
    return sxi_h5_exists(cube, "/imgs") && sxi_h5_exists(cube, "/scan_var");
}

static bool find_monitor(void *data, const char *name, bool is_group) {
    if (!is_group && (strcmp(name, "i0") == 0 || strncmp(name, "i0_", 3) == 0)) {
        sxi_names_add(data, name);
    }
    return true;
}

/* "i0" unless told otherwise; --i0 ipm3 means i0_ipm3. */
static sx_status choose_monitor(sx_hdf5 *cube, const char *wanted, char *monitor) {
    sxi_names names = {0};
    SXI_TRY(sxi_h5_members(cube, "/", find_monitor, &names));
    const char *const starts[] = {"", "i0_"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        snprintf(monitor, SXI_SOURCE_NAME, "%s%s", wanted ? starts[i] : "", wanted ? wanted : "i0");
        if (sxi_h5_exists(cube, monitor) && !sxi_h5_is_group(cube, monitor)) {
            return SX_OK;
        }
    }
    return SXI_FAIL(SX_ERR_MISSING, "%s has no intensity monitor %s; it holds %s",
                    sx_hdf5_path_of(cube), wanted ? wanted : "i0",
                    names.count ? names.text : "none");
}

/* Image and monitor are sums over the same shots, so the shots cancel. */
static sx_status read_side(sx_hdf5 *file, const char *monitor, sxi_side *side) {
    SXI_TRY(sxi_source_stack(file, "imgs", &side->frames));
    if (side->frames.about.rank < 2 || side->frames.about.rank > 4) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s:imgs has %d axes, [n, y, x] is needed",
                        sx_hdf5_path_of(file), side->frames.about.rank);
    }
    const int64_t bins = side->frames.about.shape[0];
    const char *const shots = sxi_h5_exists(file, "bin_count") ? "bin_count" : monitor;
    SXI_TRY(sxi_source_vector(file, shots, bins, &side->shots, NULL));
    SXI_TRY(sxi_source_vector(file, shots, bins, &side->monitor_shots, NULL));
    SXI_TRY(sxi_source_vector(file, monitor, bins, &side->monitor, NULL));
    return sxi_source_vector(file, "scan_var", bins, &side->delay, NULL);
}

static sx_status open_sides(sxi_source *source, const sxi_layout_request *request, sxi_side *on,
                            sxi_side *off) {
    const sx_xani_input *input = request->input;
    sx_hdf5 *cube = source->file[0];
    sx_hdf5 *dark = NULL;
    char monitor[SXI_SOURCE_NAME];
    char where[SXI_SOURCE_NAME + 64];
    if (!input->off) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s is a cropped cube of one laser state; give the laser-off cube with "
                        "--off FILE",
                        sx_hdf5_path_of(cube));
    }
    SXI_TRY(sxi_source_file(source, input->off, &dark));
    SXI_TRY(choose_monitor(cube, input->i0, monitor));
    SXI_TRY(read_side(cube, monitor, on));
    SXI_TRY(read_side(dark, monitor, off));
    SXI_TRY(sxi_source_same_shape(on, off, true));
    SXI_TRY(sxi_source_signal(source, &on->frames));
    snprintf(source->info.layout, sizeof source->info.layout, "cropped cube (%.24s)", monitor);
    snprintf(where, sizeof where, "%s:/scan_var", sx_hdf5_path_of(cube));
    sxi_stack delay;
    SXI_TRY(sxi_source_stack(cube, "scan_var", &delay));
    const sxi_axis axis = {.where = where, .unit = delay.about.unit};
    SXI_TRY(sxi_source_axis(source, request, &axis, on->delay));
    return sxi_source_ratio(source, on, off, request->context);
}

static sx_status open_cropped(sxi_source *source, const sxi_layout_request *request) {
    return sxi_source_sides(source, request, open_sides);
}

const sxi_layout sxi_layout_cropped = {.name = "cropped cube",
                                       .recognise = recognise,
                                       .open = open_cropped,
                                       .uses_off = true,
                                       .uses_i0 = true};
