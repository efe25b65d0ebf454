/* SPDX-License-Identifier: Apache-2.0
 * Uses the library as a stranger would: an array, and a failure with its sentence. */
#include <stdio.h>
#include <string.h>

#include <sextant/array.h>

int main(void) {
    int64_t shape[] = {2, 3}, index[] = {1, 2}, wrong[] = {-1};
    sx_array array = {0}, none = {0};
    if (sx_array_create(SX_F32, 2, shape, &array) != SX_OK) {
        return 1;
    }
    sx_array_set(&array, index, 4.5);
    double value = sx_array_get(&array, index);
    sx_array_destroy(&array);
    sx_status status = sx_array_create(SX_F32, 1, wrong, &none);
    printf("%s: %s\n", sx_status_name(status), sx_error_message());
    return !(value == 4.5 && status == SX_ERR_SHAPE && strlen(sx_error_message()) > 0);
}
