/* SPDX-License-Identifier: Apache-2.0 */
#include "io/read/difference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 16 }; /* bytes of an element that is no number */

/* Bytes as they lie in memory. */
static void say_bytes(const unsigned char *value, int64_t element, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "bytes ");
    for (int64_t i = 0; i < element && i < SHOWN; i++) {
        used += (size_t)snprintf(text + used, size - used, "%02x", value[i]);
    }
    snprintf(text + used, size - used, "%s", element > SHOWN ? "..." : "");
}

#define SAY(name, type, ...)                                                                       \
    case SX_##name: {                                                                              \
        type v;                                                                                    \
        memcpy(&v, value, sizeof v);                                                               \
        snprintf(text, size, __VA_ARGS__);                                                         \
        break;                                                                                     \
    }

/* Floats that differ but read alike, such as two kinds of NaN, are told apart by their bytes. */
static void say_number(const unsigned char *value, sx_dtype dtype, char *text, size_t size) {
    switch (dtype) {
        SAY(I8, int8_t, "%d", v)
        SAY(U8, uint8_t, "%u", v)
        SAY(I16, int16_t, "%d", v)
        SAY(U16, uint16_t, "%u", v)
        SAY(I32, int32_t, "%" PRId32, v)
        SAY(U32, uint32_t, "%" PRIu32, v)
        SAY(I64, int64_t, "%" PRId64, v)
        SAY(U64, uint64_t, "%" PRIu64, v)
        SAY(F32, float, "%.9g", (double)v)
        SAY(F64, double, "%.17g", v)
    }
}

int64_t sxi_difference(const void *one, const void *other, int64_t count, int64_t element,
                       bool numeric, sx_dtype dtype, char a[SXI_DIFFERENCE],
                       char b[SXI_DIFFERENCE]) {
    const unsigned char *p = one;
    const unsigned char *q = other;
    if (memcmp(p, q, (size_t)(count * element)) == 0) {
        return -1;
    }
    int64_t i = 0;
    while (memcmp(p + i * element, q + i * element, (size_t)element) == 0) {
        i++;
    }
    if (numeric) {
        say_number(p + i * element, dtype, a, SXI_DIFFERENCE);
        say_number(q + i * element, dtype, b, SXI_DIFFERENCE);
    }
    if (!numeric || strcmp(a, b) == 0) {
        say_bytes(p + i * element, element, a, SXI_DIFFERENCE);
        say_bytes(q + i * element, element, b, SXI_DIFFERENCE);
    }
    return i;
}
