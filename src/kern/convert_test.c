/* SPDX-License-Identifier: Apache-2.0
 * Every conversion against HDF5's own, bit for bit. */
#include "kern/convert.h"

#include <hdf5.h>
#include <string.h>

#include "base/rng.h"
#include "sx_check.h"

enum { N = 4099, TYPES = SX_F64 + 2, HALF = SX_F64 + 1 };

static sxi_place_type place_type(int type, bool swapped) {
    if (type == HALF) {
        return (sxi_place_type){SXI_PLACE_HALF, SX_F32, swapped, 2};
    }
    const sx_dtype dtype = (sx_dtype)type;
    return (sxi_place_type){SXI_PLACE_NUMBER, dtype, swapped, (int64_t)sx_dtype_size(dtype)};
}

static const char *type_name(int type) {
    return type == HALF ? "float16" : sx_dtype_name((sx_dtype)type);
}

static hid_t library_type(int type, bool swapped) {
    const hid_t native[SX_F64 + 1] = {
        [SX_I8] = H5T_NATIVE_INT8,    [SX_U8] = H5T_NATIVE_UINT8,   [SX_I16] = H5T_NATIVE_INT16,
        [SX_U16] = H5T_NATIVE_UINT16, [SX_I32] = H5T_NATIVE_INT32,  [SX_U32] = H5T_NATIVE_UINT32,
        [SX_I64] = H5T_NATIVE_INT64,  [SX_U64] = H5T_NATIVE_UINT64, [SX_F32] = H5T_NATIVE_FLOAT,
        [SX_F64] = H5T_NATIVE_DOUBLE};
    hid_t made = H5Tcopy(type == HALF ? H5T_IEEE_F32LE : native[type]);
    if (type == HALF) {
        H5Tset_fields(made, 15, 10, 5, 0, 10);
        H5Tset_size(made, 2);
        H5Tset_ebias(made, 15);
    }
    if (swapped && H5Tget_size(made) > 1) {
        H5Tset_order(made, H5T_ORDER_BE);
    }
    return made;
}

/* Random bits, then few of them (small numbers, denormals), then the ends of the range. */
static void fill(int type, bool swapped, unsigned char *bytes) {
    const size_t size = type == HALF ? 2 : sx_dtype_size((sx_dtype)type);
    for (uint64_t i = 0; i < N; i++) {
        uint32_t bits[4];
        sxi_rng_bits(7, (uint32_t)type, i, 0, bits);
        uint64_t value = (uint64_t)bits[0] << 32 | bits[1];
        if (i % 3 == 1) {
            value = value >> (bits[2] % 64) | (uint64_t)(bits[3] & 1) << (8 * size - 1);
        } else if (i % 3 == 2) {
            const uint64_t top = (uint64_t)1 << (8 * size - 1);
            value = (bits[2] & 1 ? top : 0) + (bits[2] & 2 ? top - 1 : 0) + bits[3] % 9 - 4;
        }
        for (size_t b = 0; b < size; b++) {
            bytes[i * size + (swapped ? size - 1 - b : b)] = (unsigned char)(value >> 8 * b);
        }
    }
}

/* Doubles about FLT_MAX, where HDF5 has a rule of its own, and in the range of floats. */
static void fill_doubles(bool swapped, unsigned char *bytes) {
    for (uint64_t i = 0; i < N; i++) {
        uint32_t bits[4];
        sxi_rng_bits(8, 0, i, 0, bits);
        uint64_t value = (uint64_t)(bits[0] & 1) << 63 | (uint64_t)bits[1];
        const uint64_t head = 0x36000000 + bits[2] % 0x11f00000;
        value |= (i % 3 == 0 ? UINT64_C(0x47efffff) : i % 3 == 1 ? head : head | 0xfffff) << 32;
        for (size_t b = 0; b < 8; b++) {
            bytes[i * 8 + (swapped ? 7 - b : b)] = (unsigned char)(value >> 8 * b);
        }
    }
}

/* HDF5 1.10 loses the carry where a double in foreign order rounds up to the next power of two, and
 * gives half of it. */
static bool lost_carry(int from, bool swapped, int to, const void *expected, const void *found) {
    float e, f;
    if (from != SX_F64 || to != SX_F32 || !swapped) {
        return false;
    }
    memcpy(&e, expected, sizeof e);
    memcpy(&f, found, sizeof f);
    int exponent;
    return 2 * e == f && (isinf(f) || fabsf(frexpf(f, &exponent)) == 0.5f);
}

static uint64_t value_of(const unsigned char *bytes, size_t size) {
    uint64_t value = 0;
    memcpy(&value, bytes, size);
    return value;
}

/* Neither side is aligned. Says the first few that differ. */
static int compare(int from, bool swapped, int to, const unsigned char *bytes) {
    static unsigned char expected[N * 8], found[N * 8 + 1], source[N * 8 + 1];
    const sxi_place_type source_type = place_type(from, swapped);
    const sxi_place_type target_type = place_type(to, false);
    const size_t size = (size_t)target_type.bytes, source_size = (size_t)source_type.bytes;
    sxi_convert convert;
    if (!sxi_convert_find(&source_type, &target_type, &convert)) {
        return 0;
    }
    memcpy(expected, bytes, N * source_size);
    hid_t a = library_type(from, swapped), b = library_type(to, false);
    ck_assert(H5Tconvert(a, b, N, expected, NULL, H5P_DEFAULT) >= 0);
    H5Tclose(a);
    H5Tclose(b);
    memcpy(source + 1, bytes, N * source_size);
    sxi_convert_row(&convert, N, source + 1, found + 1);
    int wrong = 0;
    for (size_t i = 0; i < N; i++) {
        const unsigned char *e = expected + i * size, *f = found + 1 + i * size;
        if (memcmp(e, f, size) != 0 && !lost_carry(from, swapped, to, e, f) && ++wrong <= 3) {
            printf("%s%s to %s: %llx gives %llx, HDF5 %llx\n", swapped ? "swapped " : "",
                   type_name(from), type_name(to),
                   (unsigned long long)value_of(bytes + i * source_size, source_size),
                   (unsigned long long)value_of(f, size), (unsigned long long)value_of(e, size));
        }
    }
    return wrong;
}

START_TEST(conversions_are_those_of_hdf5) {
    static unsigned char bytes[N * 8];
    int wrong = 0;
    for (int from = 0; from < TYPES; from++) {
        for (int swapped = 0; swapped < 2; swapped++) {
            for (int to = 0; to < HALF; to++) {
                fill(from, swapped, bytes);
                wrong += compare(from, swapped, to, bytes);
                if (from == SX_F64) {
                    fill_doubles(swapped, bytes);
                    wrong += compare(from, swapped, to, bytes);
                }
            }
        }
    }
    ck_assert_int_eq(wrong, 0);
}
END_TEST

SX_TEST_MAIN("convert", conversions_are_those_of_hdf5)
