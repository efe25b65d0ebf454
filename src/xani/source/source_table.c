/* SPDX-License-Identifier: Apache-2.0
 * One trace as text: t, y[, sigma]. */
#include "xani/source/source_layout.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/table/table.h"

static sx_status fill(sxi_source *source, const sxi_layout_request *request,
                      const sxi_table *table) {
    const char *path = request->input->cube;
    sxi_source_info *info = &source->info;
    if (table->columns != 2 && table->columns != 3) {
        return SXI_FAIL(SX_ERR_SHAPE, "%s has %d columns; 2 or 3 are needed: t, y[, sigma]", path,
                        table->columns);
    }
    info->nt = table->rows;
    info->rank = 1;
    info->shape[0] = info->rows = info->width = info->chunk_rows = 1;
    info->dtype = SX_F64;
    info->has_sigma = table->columns == 3;
    const size_t bytes = (size_t)table->rows * sizeof(double);
    double *time = malloc(bytes);
    source->trace = malloc(bytes);
    source->sigma_t = info->has_sigma ? malloc(bytes) : NULL;
    sx_status status = SX_OK;
    if (!time || !source->trace || (info->has_sigma && !source->sigma_t)) {
        status = SXI_FAIL(SX_ERR_MEMORY, "%s: no memory for its trace", path);
        goto out;
    }
    for (int64_t t = 0; t < table->rows; t++) {
        const double *row = table->value + t * table->columns;
        time[t] = row[0];
        source->trace[t] = row[1];
        if (info->has_sigma) {
            source->sigma_t[t] = row[2];
        }
    }
    char unit[SXI_TABLE_NAME];
    const sxi_axis axis = {.where = path,
                           .unit = sxi_table_unit(table->name[0], unit, (int)sizeof unit)};
    SXI_GO(sxi_source_axis(source, request, &axis, time));
    SXI_GO(sxi_source_reorder(source, source->trace));
    if (source->sigma_t) {
        SXI_GO(sxi_source_reorder(source, source->sigma_t));
    }
out:
    free(time);
    return status;
}

sx_status sxi_source_open_table(sxi_source *source, const sxi_layout_request *request) {
    sxi_table table;
    snprintf(source->info.layout, sizeof source->info.layout, "CSV trace");
    SXI_TRY(sxi_source_input(source, request->input->cube));
    SXI_TRY(sxi_table_read(request->input->cube, &table));
    sx_status status = fill(source, request, &table);
    sxi_table_destroy(&table);
    return status;
}
