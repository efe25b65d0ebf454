/* SPDX-License-Identifier: Apache-2.0
 * consumer.c from C++. */
#include <iostream>

#include <sextant/array.h>

int main() {
    const int64_t shape[] = {2, 3}, index[] = {1, 2}, wrong[] = {-1};
    sx_array array{}, none{};
    if (sx_array_create(SX_F32, 2, shape, &array) != SX_OK) {
        return 1;
    }
    sx_array_set(&array, index, 4.5);
    const double value = sx_array_get(&array, index);
    sx_array_destroy(&array);
    const sx_status status = sx_array_create(SX_F32, 1, wrong, &none);
    std::cout << sx_status_name(status) << ": " << sx_error_message() << '\n';
    return !(value == 4.5 && status == SX_ERR_SHAPE && sx_error_message()[0] != '\0');
}
