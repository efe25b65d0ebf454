/* SPDX-License-Identifier: Apache-2.0
 * LCLS1 cubes (smalldata_tools): two files, on and off, of sums over the shots of each delay bin.
 *
 *   {det}_data      [nbins, H, W] or [nbins, nseg, rows, cols]  sum over shots
 *   {det}_nEntries  [nbins]  shots with this detector     nEntries [nbins]  all selected shots
 *   binVar_bins     [nbins]  LEFT edges of the bins       X__sum   [nbins]  sum of monitor X
 *   binVar          [nbins]  sum of the delay over nEntries shots; older cubes lack it
 *   {det}_cfg/mask, calib_mask  1 is good
 *
 * A detector misses shots, so its mean is over {det}_nEntries and that of the monitor over
 * nEntries. Theory: docs/theory/dcos.md. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char data_end[] = "_data";
static const char monitor_end[] = "__sum";
static const char default_monitor[] = "ipm2__sum";

static bool recognise(sx_hdf5 *cube) {
    return sxi_h5_exists(cube, "/binVar_bins") && sxi_h5_exists(cube, "/nEntries");
}

static bool ends_with(const char *name, const char *end) {
    const size_t length = strlen(name);
    return length > strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* Looking through the members of the root. */
typedef struct search {
    sx_hdf5 *file;
    const char *end;
    int64_t bins;
    int least_rank, most_rank;
    sxi_names names;
} search;

/* Datasets whose name ends as wanted, with one entry per bin. */
static bool collect(void *data, const char *name, bool is_group) {
    search *found = data;
    sx_hdf5_dataset about;
    if (!is_group && ends_with(name, found->end) &&
        sx_hdf5_describe(found->file, name, &about) == SX_OK && about.numeric &&
        about.rank >= found->least_rank && about.rank <= found->most_rank &&
        (found->bins < 0 || about.shape[0] == found->bins)) {
        sxi_names_add(&found->names, name);
    }
    return true;
}

static bool find_extra_axis(void *data, const char *name, bool is_group) {
    (void)is_group;
    sxi_names *names = data;
    if (strncmp(name, "bins_", 5) == 0) {
        sxi_names_add(names, name);
    }
    return true;
}

/* The name of the detector, without "_data". */
static sx_status choose_detector(sx_hdf5 *cube, const char *wanted, char *detector) {
    sxi_names axes = {0};
    SXI_TRY(sxi_h5_members(cube, "/", find_extra_axis, &axes));
    if (axes.count > 0) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s is binned in more than the delay (%s); such cubes are not read",
                        sx_hdf5_path_of(cube), axes.text);
    }
    search found = {.file = cube, .end = data_end, .bins = -1, .least_rank = 2, .most_rank = 8};
    SXI_TRY(sxi_h5_members(cube, "/", collect, &found));
    char name[SXI_SOURCE_NAME];
    if (wanted) {
        snprintf(name, sizeof name, "%s%s", wanted, data_end);
        if (!sxi_h5_exists(cube, name)) {
            return SXI_FAIL(SX_ERR_MISSING, "%s has no detector %s; it holds %s",
                            sx_hdf5_path_of(cube), wanted,
                            found.names.count ? found.names.text : "none");
        }
    } else if (found.names.count == 1) {
        snprintf(name, sizeof name, "%s", found.names.last);
    } else {
        return SXI_FAIL(SX_ERR_MISSING,
                        found.names.count ? "%s holds several detectors, choose one with "
                                            "--detector (the part before _data): %s"
                                          : "%s holds no detector images ({detector}_data)%s",
                        sx_hdf5_path_of(cube), found.names.text);
    }
    snprintf(detector, SXI_SOURCE_NAME, "%.*s", (int)(strlen(name) - strlen(data_end)), name);
    return SX_OK;
}

/* The dataset of the intensity monitor. */
static sx_status choose_monitor(sx_hdf5 *cube, const char *wanted, int64_t bins, char *monitor) {
    search found = {
        .file = cube, .end = monitor_end, .bins = bins, .least_rank = 1, .most_rank = 1};
    SXI_TRY(sxi_h5_members(cube, "/", collect, &found));
    const char *const listed = found.names.count ? found.names.text : "none";
    if (wanted) {
        const char *const ends[] = {"", monitor_end};
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            sx_hdf5_dataset about;
            snprintf(monitor, SXI_SOURCE_NAME, "%s%s", wanted, ends[i]);
            if (sxi_h5_exists(cube, monitor) && !sxi_h5_is_group(cube, monitor) &&
                sx_hdf5_describe(cube, monitor, &about) == SX_OK && about.rank == 1) {
                return SX_OK;
            }
        }
        return SXI_FAIL(SX_ERR_MISSING, "%s has no intensity monitor %s; it holds %s",
                        sx_hdf5_path_of(cube), wanted, listed);
    }
    if (sxi_h5_exists(cube, default_monitor)) {
        snprintf(monitor, SXI_SOURCE_NAME, "%s", default_monitor);
    } else if (found.names.count == 1) {
        snprintf(monitor, SXI_SOURCE_NAME, "%s", found.names.last);
    } else {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s has no ipm2__sum; choose the intensity monitor with --i0: %s",
                        sx_hdf5_path_of(cube), listed);
    }
    return SX_OK;
}

/* Everything of one file but the images. */
static sx_status read_side(sx_hdf5 *file, const char *detector, const char *monitor,
                           sxi_side *side) {
    char name[SXI_SOURCE_NAME + 16];
    snprintf(name, sizeof name, "%s%s", detector, data_end);
    SXI_TRY(sxi_source_stack(file, name, &side->frames));
    if (side->frames.about.rank < 2 || side->frames.about.rank > 4) {
        char shape[80];
        return SXI_FAIL(
            SX_ERR_SHAPE, "%s:%s is %s; [nbins, H, W] or [nbins, nseg, rows, cols] is needed",
            sx_hdf5_path_of(file), name,
            sxi_shape_text(side->frames.about.rank, side->frames.about.shape, shape, sizeof shape));
    }
    const int64_t bins = side->frames.about.shape[0];
    snprintf(name, sizeof name, "%s_nEntries", detector);
    SXI_TRY(sxi_source_vector(file, sxi_h5_exists(file, name) ? name : "nEntries", bins,
                              &side->shots, NULL));
    SXI_TRY(sxi_source_vector(file, "nEntries", bins, &side->monitor_shots, NULL));
    SXI_TRY(sxi_source_vector(file, monitor, bins, &side->monitor, NULL));
    return sxi_source_vector(file, "binVar_bins", bins, &side->delay, NULL);
}

/* Left edges to centres; the last bin is taken to be as wide as the one before. */
static void centre(double *edge, int64_t bins, double *width) {
    double least = HUGE_VAL;
    double most = 0;
    for (int64_t t = 0; bins > 1 && t < bins; t++) {
        const double step = t + 1 < bins ? edge[t + 1] - edge[t] : *width;
        edge[t] += step / 2;
        *width = step;
        least = fabs(step) < least ? fabs(step) : least;
        most = fabs(step) > most ? fabs(step) : most;
    }
    /* Edges are stored as floats: equal within their digits. */
    *width = most - least <= 1e-3 * most ? most : 0;
}

/* Sums of the delay over the shots of each bin, one for each of bins. */
static bool has_sums(sx_hdf5 *cube, int64_t bins) {
    sx_hdf5_dataset about;
    return sxi_h5_exists(cube, "/binVar") && !sxi_h5_is_group(cube, "/binVar") &&
           sx_hdf5_describe(cube, "/binVar", &about) == SX_OK && about.numeric && about.rank == 1 &&
           about.shape[0] == bins;
}

/* Turns sums into means, and those of bins without shots into centres. Returns the first bin whose
 * mean does not lie in it, or not behind that of the bin before; -1 if there is none. */
static int64_t divide(double *sum, const double *shots, const double *edge, const double *centre,
                      int64_t bins) {
    for (int64_t t = 0; t < bins; t++) {
        const double half = centre[t] - edge[t];
        const double mean = sum[t] / shots[t];
        /* Edges and sums may be floats: seven digits each. */
        const double slack = 1e-3 * fabs(half) + 1e-6 * fabs(edge[t]);
        const bool none = !(shots[t] > 0);
        if (!none && !(fabs(mean - centre[t]) <= fabs(half) + slack)) {
            return t;
        }
        sum[t] = none ? centre[t] : mean;
        if (t > 0 && !((sum[t] - sum[t - 1]) * half > 0)) {
            return t;
        }
    }
    return -1;
}

/* Turns the left edges in side->delay into the delays of the bins: means over their shots where the
 * file has their sums, for where shots do not fill a bin evenly its centre is not their delay, and
 * phases come out wrong. */
static sx_status settle_delays(sxi_source *source, sx_hdf5 *cube, sxi_side *side, double *width,
                               const sx_context *context, const char **kind) {
    const int64_t bins = source->info.nt;
    const size_t bytes = (size_t)bins * sizeof(double);
    double *sum = NULL;
    int64_t astray = -1;
    double *edge = malloc(bytes);
    if (!edge) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)bins);
    }
    sx_status status = SX_OK;
    memcpy(edge, side->delay, bytes);
    centre(side->delay, bins, width);
    *kind = "bin centres";
    if (!has_sums(cube, bins)) {
        sx_log(context, SX_LOG_INFO,
               "%s has no binVar [%lld], so delays are the centres of the bins",
               sx_hdf5_path_of(cube), (long long)bins);
        goto out;
    }
    SXI_GO(sxi_source_vector(cube, "binVar", bins, &sum, NULL));
    astray = divide(sum, side->monitor_shots, edge, side->delay, bins);
    if (astray >= 0) {
        sx_log(
            context, SX_LOG_WARNING,
            "%s: binVar / nEntries is not in bin %lld, so binVar is no sum of delays; delays are "
            "the centres of the bins",
            sx_hdf5_path_of(cube), (long long)astray);
        goto out;
    }
    memcpy(side->delay, sum, bytes);
    *kind = "mean delays";
    sx_log(context, SX_LOG_INFO, "delays are the means binVar / nEntries of the bins of %s",
           sx_hdf5_path_of(cube));
out:
    free(sum);
    free(edge);
    return status;
}

static sx_status read_masks(sxi_source *source, sx_hdf5 *file, const char *detector,
                            const sx_context *context) {
    static const char *const masks[] = {"mask", "calib_mask"};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        char name[SXI_SOURCE_NAME + 32];
        snprintf(name, sizeof name, "%s_cfg/%s", detector, masks[i]);
        if (!sxi_h5_exists(file, name)) {
            continue;
        }
        sxi_stack mask;
        SXI_TRY(sxi_source_stack(file, name, &mask));
        const sx_status status = sxi_source_mask(source, &mask, true);
        if (status == SX_ERR_SHAPE) { /* masks of segments beside an assembled image */
            sx_log(context, SX_LOG_WARNING, "%s; it is not used", sx_error_message());
        } else {
            SXI_TRY(status);
        }
    }
    return SX_OK;
}

static sx_status open_sides(sxi_source *source, const sxi_layout_request *request, sxi_side *on,
                            sxi_side *off) {
    const sx_xani_input *input = request->input;
    sx_hdf5 *cube = source->file[0];
    sx_hdf5 *dark = NULL;
    char detector[SXI_SOURCE_NAME];
    char monitor[SXI_SOURCE_NAME];
    char where[SXI_SOURCE_NAME + 64];
    const char *kind = NULL;
    double width = 0;
    if (!input->off) {
        return SXI_FAIL(SX_ERR_MISSING,
                        "%s is an LCLS1 cube of one laser state; give the laser-off cube with "
                        "--off FILE",
                        sx_hdf5_path_of(cube));
    }
    SXI_TRY(sxi_source_file(source, input->off, &dark));
    sxi_stack bins;
    SXI_TRY(sxi_source_stack(cube, "binVar_bins", &bins));
    SXI_TRY(choose_detector(cube, input->detector, detector));
    SXI_TRY(
        choose_monitor(cube, input->i0, bins.about.rank == 1 ? bins.about.shape[0] : -1, monitor));
    SXI_TRY(read_side(cube, detector, monitor, on));
    SXI_TRY(read_side(dark, detector, monitor, off));
    SXI_TRY(sxi_source_same_shape(on, off, true));
    SXI_TRY(sxi_source_signal(source, &on->frames));
    SXI_TRY(read_masks(source, cube, detector, request->context));
    SXI_TRY(read_masks(source, dark, detector, request->context));
    SXI_TRY(settle_delays(source, cube, on, &width, request->context, &kind));
    snprintf(source->info.layout, sizeof source->info.layout, "LCLS1 cube (%.20s, %.14s, %s)",
             detector, monitor, kind);
    snprintf(where, sizeof where, "%s:/binVar_bins", sx_hdf5_path_of(cube));
    const sxi_axis axis = {.where = where, .unit = bins.about.unit};
    SXI_TRY(sxi_source_axis(source, request, &axis, on->delay));
    if (width > 0) {
        const double span = source->delay[source->info.nt - 1] - source->delay[0];
        const double stored = fabs(on->delay[source->info.nt - 1] - on->delay[0]);
        source->info.bin_width_ps = width * span / stored;
    }
    return sxi_source_ratio(source, on, off, request->context);
}

static sx_status open_lcls1(sxi_source *source, const sxi_layout_request *request) {
    return sxi_source_sides(source, request, open_sides);
}

const sxi_layout sxi_layout_lcls1 = {.name = "LCLS1 cube",
                                     .recognise = recognise,
                                     .open = open_lcls1,
                                     .uses_off = true,
                                     .uses_detector = true,
                                     .uses_i0 = true};
