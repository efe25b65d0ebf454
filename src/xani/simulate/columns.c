/* SPDX-License-Identifier: Apache-2.0
 * Numbers of shots as datasets. */
#include "base/fail.h"
#include "xani/simulate/run.h"

static const struct {
    const char *unit, *sentence;
} COLUMN[] = {
#define COLUMN_ROW(member, unit, sentence) {unit, sentence},
    SXI_PULSE_LIST(COLUMN_ROW)
#undef COLUMN_ROW
};

static double value_of(const sxi_pulse *pulse, int column) {
    const double value[] = {
#define COLUMN_VALUE(member, unit, sentence) (double)pulse->member,
        SXI_PULSE_LIST(COLUMN_VALUE)
#undef COLUMN_VALUE
    };
    return value[column];
}

sx_status sxi_columns_create(sxi_h5_writer *writer, const char *const *names, int64_t shots,
                             int64_t per_row) {
    const int64_t shape[] = {shots / per_row, per_row};
    for (int c = 0; c < SXI_PULSE_COLUMNS; c++) {
        SXI_TRY(sxi_h5_dataset_create(writer, names[c], SX_F64, per_row > 1 ? 2 : 1, shape,
                                      COLUMN[c].unit, COLUMN[c].sentence));
    }
    return SX_OK;
}

sx_status sxi_columns_write(sxi_h5_writer *writer, const char *const *names, int64_t first,
                            int64_t count, int64_t per_row, const sxi_pulse *pulse) {
    const int64_t start[] = {first / per_row, 0}, shape[] = {count / per_row, per_row};
    sx_status status = SX_OK;
    sx_array array;
    SXI_TRY(sx_array_create(SX_F64, per_row > 1 ? 2 : 1, shape, &array));
    for (int c = 0; c < SXI_PULSE_COLUMNS; c++) {
        for (int64_t i = 0; i < count; i++) {
            ((double *)array.data)[i] = value_of(&pulse[i], c);
        }
        SXI_GO(sxi_h5_write_box(writer, names[c], start, &array));
    }
out:
    sx_array_destroy(&array);
    return status;
}

sx_status sxi_numbers_write(sxi_h5_writer *writer, const char *name, int64_t count, double value,
                            const char *unit, const char *sentence) {
    sx_array array;
    SXI_TRY(sx_array_create(SX_F64, 1, &count, &array));
    for (int64_t i = 0; i < count; i++) {
        ((double *)array.data)[i] = value;
    }
    const sx_status status = sxi_h5_write(writer, name, &array, unit, sentence);
    sx_array_destroy(&array);
    return status;
}
