/* SPDX-License-Identifier: Apache-2.0
 * Any datasets: --signal, --delay, --sigma, --mask FILE:/path. */
#include "xani/source/source_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The delays are as many as the signal has entries along its first axis. If another axis has that
 * many, the signal is likely transposed. */
static sx_status check_delays(const sxi_stack *signal, const sxi_stack *delay, int64_t count) {
    const sx_hdf5_dataset *about = &signal->about;
    char shape[80];
    char hint[120] = "";
    if (about->rank < 1 || about->shape[0] == count) {
        return SX_OK;
    }
    for (int d = 1; d < about->rank; d++) {
        if (about->shape[d] == count) {
            snprintf(
                hint, sizeof hint,
                "; axis %d has that many: the delay axis must come first, transpose the signal", d);
        }
    }
    return SXI_FAIL(
        SX_ERR_SHAPE, "the signal %s:%s is %s, so %lld delays are needed, %s:%s holds %lld%s",
        sx_hdf5_path_of(signal->file), signal->name,
        sxi_shape_text(about->rank, about->shape, shape, sizeof shape), (long long)about->shape[0],
        sx_hdf5_path_of(delay->file), delay->name, (long long)count, hint);
}

/* One number for all samples. */
static sx_status open_one_sigma(sxi_source *source, const sxi_stack *sigma) {
    const int64_t nt = source->info.nt;
    const sx_dtype real = SX_F64;
    sx_array read;
    SXI_TRY(sxi_h5_read(sigma->file, sigma->name, &real, &read));
    const double value = *(const double *)read.data;
    sx_array_destroy(&read);
    if (!(value > 0) || !isfinite(value)) {
        return SXI_FAIL(SX_ERR_RANGE,
                        "the sigma %s:%s is %g for all samples; it must be positive and finite",
                        sx_hdf5_path_of(sigma->file), sigma->name, value);
    }
    source->sigma_t = malloc((size_t)nt * sizeof *source->sigma_t);
    if (!source->sigma_t) {
        return SXI_FAIL(SX_ERR_MEMORY, "no memory for %lld delays", (long long)nt);
    }
    for (int64_t t = 0; t < nt; t++) {
        source->sigma_t[t] = value;
    }
    return SX_OK;
}

static sx_status open_sigma(sxi_source *source, const char *text) {
    const sx_hdf5_dataset *signal = &source->signal.about;
    char found[80];
    char needed[80];
    sxi_stack sigma;
    SXI_TRY(sxi_source_name(source, "--sigma", text, &sigma));
    source->info.has_sigma = true;
    if (sigma.about.rank == signal->rank &&
        memcmp(sigma.about.shape, signal->shape, sizeof signal->shape) == 0 && signal->rank > 1) {
        source->sigma = sigma;
        return SX_OK;
    }
    if (sigma.about.rank == 1 && sigma.about.shape[0] == source->info.nt) {
        SXI_TRY(sxi_source_vector(sigma.file, sigma.name, source->info.nt, &source->sigma_t, NULL));
        return sxi_source_reorder(source, source->sigma_t);
    }
    if (sigma.about.rank == 0 || (sigma.about.rank == 1 && sigma.about.shape[0] == 1)) {
        return open_one_sigma(source, &sigma);
    }
    return SXI_FAIL(SX_ERR_SHAPE,
                    "the sigma %s:%s is %s; it must be shaped like the signal, %s, hold one value "
                    "per delay, [%lld], or be one number",
                    sx_hdf5_path_of(sigma.file), sigma.name,
                    sxi_shape_text(sigma.about.rank, sigma.about.shape, found, sizeof found),
                    sxi_shape_text(signal->rank, signal->shape, needed, sizeof needed),
                    (long long)source->info.nt);
}

sx_status sxi_source_open_datasets(sxi_source *source, const sxi_layout_request *request) {
    const sx_xani_input *input = request->input;
    sxi_stack signal;
    sxi_stack delay;
    double *values = NULL;
    int64_t count = 0;
    snprintf(source->info.layout, sizeof source->info.layout, "datasets");
    SXI_TRY(sxi_source_name(source, "--signal", input->signal, &signal));
    SXI_TRY(sxi_source_name(source, "--delay", input->delay, &delay));
    SXI_TRY(sxi_source_vector(delay.file, delay.name, -1, &values, &count));
    const sxi_axis axis = {.where = input->delay, .unit = delay.about.unit};
    sx_status status = check_delays(&signal, &delay, count);
    if (status == SX_OK) {
        status = sxi_source_signal(source, &signal);
    }
    if (status == SX_OK) {
        status = sxi_source_axis(source, request, &axis, values);
    }
    free(values);
    SXI_TRY(status);
    return input->sigma ? open_sigma(source, input->sigma) : SX_OK;
}
