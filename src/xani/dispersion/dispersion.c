/* SPDX-License-Identifier: Apache-2.0
 * Fits of one or several orientations to a dispersion.h5. */
#include "xani/dispersion/dispersion.h"

#include <math.h>

#include "base/fail.h"
#include "base/output.h"

static const char *const branches[] = {
    [SX_BRANCH_HALF] = "half: the intensity oscillates at twice the frequency of a phonon",
    [SX_BRANCH_RAW] = "raw: the intensity oscillates at the frequency of a phonon",
    [SX_BRANCH_SUM] = "sum: frequencies are sums or differences of those of two phonons"};

static sx_status prepare(sxi_dispersion *d, int files, const char *const *fits) {
    const sx_xani_dispersion_options *o = d->options;
    SXI_TRY(sx_crystal_read(o->crystal, &d->crystal));
    if (o->force_constants && o->bands) {
        return SXI_FAIL(SX_ERR_ARGUMENT, "bands from force constants and from a table: give one");
    }
    if (o->force_constants) {
        sx_phonons *phonons = NULL;
        SXI_TRY(sx_phonons_read(o->force_constants, o->poscar, NULL, &phonons));
        SXI_TRY(sxi_bands_model(&phonons, d->crystal, o->poscar, &d->bands));
    } else if (o->bands) {
        SXI_TRY(sxi_bands_read(o->bands, d->crystal, &d->bands));
    }
    return sxi_dispersion_place(d, files, fits, o->geometry);
}

static sx_status write(const sxi_dispersion *d, const sxi_agreement *agreement, int files,
                       const char *const *fits, const char *output) {
    sxi_h5_writer *writer = NULL;
    sx_status status = SX_OK;
    SXI_GO(sxi_h5_create(output, d->options->overwrite, &writer));
    SXI_GO(sxi_dispersion_pixels(d, writer));
    SXI_GO(sxi_agreement_write(agreement, writer));
    SXI_GO(sxi_dispersion_volume(d, writer));
    if (d->options->path) {
        SXI_GO(sxi_dispersion_path(d, writer));
        SXI_GO(sxi_h5_set_text(writer, "/path", "branch", branches[d->options->branch]));
    }
    SXI_GO(sxi_h5_set_text(writer, "/volume", "branch", branches[d->options->branch]));
    SXI_GO(sxi_h5_provenance(writer, d->context, files, fits));
    SXI_GO(sxi_h5_commit(&writer));
out:
    sxi_h5_abandon(&writer);
    return status;
}

sx_status sx_xani_dispersion(int files, const char *const *fits,
                             const sx_xani_dispersion_options *options, const char *output,
                             const sx_context *context, sx_xani_dispersion_summary *summary) {
    sx_xani_dispersion_summary ignored = {0};
    sxi_dispersion d = {
        .options = options, .context = context, .summary = summary ? summary : &ignored};
    sxi_agreement agreement;
    sx_status status = SX_OK;
    *d.summary = (sx_xani_dispersion_summary){.runs = files, .residual = (double)NAN};
    SXI_GO(sxi_output_check(output, options->overwrite, files, fits));
    SXI_GO(sxi_inputs_differ(files, fits));
    SXI_GO(prepare(&d, files, fits));
    SXI_GO(sxi_dispersion_agreement(&d, &agreement));
    d.summary->pairs = agreement.pairs;
    d.summary->alike = agreement.alike;
    d.summary->chance = agreement.chance;
    d.summary->mirrored = agreement.mirrored;
    d.summary->disordered = agreement.disordered;
    SXI_GO(write(&d, &agreement, files, fits, output));
out:
    sxi_dispersion_release(&d);
    return status;
}
