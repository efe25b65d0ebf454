/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include <sextant/xani.h>

#include "command.h"
#include "json.h"

typedef struct values {
    cli_common common;
    const char *output, *geometry, *crystal, *path, *force_constants, *poscar, *bands;
    int branch;
    double radius, voxel;
} values;

static const values defaults;

static const sx_option options[] = {
    CLI_OUTPUT(values, output, "FILE", "the dispersion.h5 to write; required"),
    CLI_OPTION(values, geometry, TEXT, "geometry", "FILE", "pixels.h5 of the detector; required"),
    CLI_OPTION(values, crystal, TEXT, "crystal", "FILE",
               "crystal.yaml: cell, symmetry, orientation, goniometer; required"),
    CLI_OPTION(values, path, TEXT, "path", "STOPS",
               "named points to go along, such as G-X-W-K-G-L; default: none"),
    CLI_OPTION(values, branch, CHOICE, "branch", "half|raw|sum",
               "what a fitted frequency is: twice that of a phonon, that of a phonon, or a sum of "
               "two; default half"),
    CLI_RANGE(values, radius, REAL, "radius", "Q",
              "how far from the path pixels may lie, 1/angstrom; default 0.02", 1e-9, 100),
    CLI_RANGE(values, voxel, REAL, "voxel", "HKL",
              "size of a voxel in reciprocal lattice units; default 0.05", 1e-6, 10),
    CLI_OPTION(values, force_constants, TEXT, "force-constants", "FILE",
               "FORCE_CONSTANTS of phonopy, for calculated bands along the path"),
    CLI_OPTION(values, poscar, TEXT, "poscar", "FILE",
               "POSCAR of the unit cell that they belong to"),
    CLI_OPTION(
        values, bands, TEXT, "bands", "FILE",
        "instead: calculated bands as a table with commas and the columns h, k, l, f1, f2, ... "
        "in THz"),
    CLI_COMMON_OPTIONS};

static sx_status check(cli_call *call, const values *v) {
    sx_status status = cli_need(call, v->output, "-o FILE");
    status = status == SX_OK ? cli_need(call, v->geometry, "--geometry FILE") : status;
    status = status == SX_OK ? cli_need(call, v->crystal, "--crystal FILE") : status;
    if (status == SX_OK && v->force_constants) {
        status = cli_need(call, v->poscar, "--poscar FILE");
    }
    if (status == SX_OK && (v->force_constants || v->bands)) {
        status = cli_need(call, v->path, "--path STOPS");
    }
    return status;
}

static sx_status print(const values *v, const sx_xani_dispersion_summary *summary) {
    if (v->common.json) {
        return cli_print_json(json_pack(
            "{s:s, s:i, s:I, s:o, s:I, s:o, s:o, s:b, s:b}", "output", v->output, "runs",
            summary->runs, "points", (json_int_t)summary->points, "residual_thz",
            cli_json_real(summary->residual), "pairs", (json_int_t)summary->pairs, "alike",
            cli_json_real(summary->alike), "alike_by_chance", cli_json_real(summary->chance),
            "mirrored", summary->mirrored, "disordered", summary->disordered));
    }
    if (v->common.quiet) {
        return SX_OK;
    }
    if (v->path) {
        printf("%lld modes on the path %s\n", (long long)summary->points, v->path);
    }
    if ((v->force_constants || v->bands) && summary->points > 0) {
        printf("they lie %.3g THz (root mean square) from the calculated bands\n",
               summary->residual);
    }
    if (summary->pairs > 0) {
        printf("%.0f %% of %lld pairs of equivalent pixels show the same frequency, of any two "
               "%.0f %%\n",
               100 * summary->alike, (long long)summary->pairs, 100 * summary->chance);
    }
    printf("wrote %s\n", v->output);
    return SX_OK;
}

static sx_status run(cli_call *call, const void *data) {
    const values *v = data;
    const sx_xani_dispersion_options dispersion = {.geometry = v->geometry,
                                                   .crystal = v->crystal,
                                                   .path = v->path,
                                                   .radius = v->radius,
                                                   .voxel = v->voxel,
                                                   .force_constants = v->force_constants,
                                                   .poscar = v->poscar,
                                                   .bands = v->bands,
                                                   .branch = (sx_branch)v->branch,
                                                   .overwrite = v->common.overwrite};
    sx_xani_dispersion_summary summary;
    sx_status status = check(call, v);
    if (status != SX_OK) {
        return status;
    }
    status = sx_xani_dispersion(call->count, call->arguments, &dispersion, v->output, call->context,
                                &summary);
    return status == SX_OK ? print(v, &summary) : status;
}

const cli_command cli_xani_dispersion = {
    .group = "xani",
    .name = "dispersion",
    .help = {"sextant xani dispersion", "fitted frequencies against q",
             "FIT... --geometry FILE --crystal FILE -o dispersion.h5 [options]",
             "FIT are fit.h5 of one detector, each at an orientation of its own. Pixels get\n"
             "(h, k, l), are folded into the Brillouin zone, added up in a volume, and those\n"
             "near a path give its spectrum, beside bands from force constants.",
             options},
    .bytes = sizeof(values),
    .defaults = &defaults,
    .least = 1,
    .most = 4096,
    .run = run,
};
