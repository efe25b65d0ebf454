/* SPDX-License-Identifier: Apache-2.0
 * How an output came to be: command, version, machine, date, and its inputs with digests. */
#include "io/hdf5/h5_locked.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sextant/cpu.h>
#include <sextant/version.h>

#include "base/output.h"
#include "io/hdf5/writer/h5_digest.h"

/* Larger files are sampled. */
static const int64_t WHOLE_BYTES = (int64_t)1 << 30;

sx_status sxi_h5_inputs(sxi_h5_writer *writer, const sx_context *context, int inputs,
                        const char *const *paths) {
    enum { TEXT = 40 };
    if (inputs == 0) {
        return SX_OK;
    }
    sx_status status = SX_OK;
    int64_t *bytes = calloc((size_t)inputs, sizeof *bytes);
    char *text = calloc((size_t)inputs, TEXT);
    const char **digests = calloc((size_t)inputs, sizeof *digests);
    if (!bytes || !text || !digests) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its provenance", writer->path);
        goto out;
    }
    for (int i = 0; i < inputs; i++) {
        digests[i] = text + (size_t)i * TEXT;
        SXI_GO(sxi_digest_file(paths[i], WHOLE_BYTES, context, &bytes[i], text + (size_t)i * TEXT,
                               TEXT));
    }
    const int64_t shape[] = {inputs};
    sx_array view;
    SXI_GO(sx_array_view(SX_I64, 1, shape, bytes, &view));
    SXI_GO(sxi_h5_write_texts(writer, "/provenance/inputs/path", inputs, paths));
    SXI_GO(sxi_h5_write(writer, "/provenance/inputs/bytes", &view, "byte", "Size of the file"));
    SXI_GO(sxi_h5_write_texts(writer, "/provenance/inputs/digest", inputs, digests));
    SXI_GO(sxi_h5_set_text(writer, "/provenance/inputs/digest", "long_name",
                           "xxh64 of the file; xxh64-sampled: of its size, first and last MiB and "
                           "64 MiB in between"));
out:
    free(bytes);
    free(text);
    free(digests);
    return status;
}

sx_status sxi_h5_provenance(sxi_h5_writer *writer, const sx_context *context, int inputs,
                            const char *const *paths) {
    sx_cpu cpu;
    char machine[160];
    char date[32] = "";
    struct tm utc;
    const time_t now = time(NULL);
    if (gmtime_r(&now, &utc)) {
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    /* Not the name of the host: a file goes to strangers. */
    sx_cpu_get(&cpu);
    sx_cpu_describe(&cpu, machine, sizeof machine);
    const char *command = context && context->command ? context->command : "";
    SXI_TRY(sxi_output_check(writer->path, true, inputs, paths)); /* not one of the inputs */
    SXI_TRY(sxi_h5_write_text(writer, "/provenance/command", command));
    SXI_TRY(sxi_h5_write_text(writer, "/provenance/version", sx_version()));
    SXI_TRY(sxi_h5_write_text(writer, "/provenance/commit", sx_commit()));
    SXI_TRY(sxi_h5_write_text(writer, "/provenance/date", date));
    SXI_TRY(sxi_h5_write_text(writer, "/provenance/machine", machine));
    return sxi_h5_inputs(writer, context, inputs, paths);
}
