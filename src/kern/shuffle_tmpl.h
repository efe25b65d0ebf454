/* SPDX-License-Identifier: Apache-2.0
 * The body of the vector variants of shuffle.c, included once per instruction set. A vector is one
 * or two HALVES of 16 bytes; unpacking works within a half, so the halves of a result lie apart in
 * memory and are stored one by one. */

enum { NAME(width) = 16 * HALVES };

TARGET static inline VECTOR NAME(load)(const unsigned char *p) {
    return V_LOGIC(loadu)((const VECTOR *)(const void *)p);
}

/* The first half goes to p, the second to p + apart. */
TARGET static inline void NAME(store)(unsigned char *p, size_t apart, VECTOR v) {
#if HALVES == 1
    (void)apart;
    _mm_storeu_si128((__m128i *)(void *)p, v);
#else
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(void *)(p + apart), _mm256_extracti128_si256(v, 1));
#endif
}

TARGET static void NAME(bytes2)(const unsigned char *plane, size_t pitch, size_t count,
                                unsigned char *target) {
    for (size_t i = 0; i < count; i += NAME(width)) {
        const VECTOR a = NAME(load)(plane + i);
        const VECTOR b = NAME(load)(plane + pitch + i);
        NAME(store)(target + 2 * i, 32, V(unpacklo_epi8)(a, b));
        NAME(store)(target + 2 * i + 16, 32, V(unpackhi_epi8)(a, b));
    }
}

TARGET static void NAME(bytes4)(const unsigned char *plane, size_t pitch, size_t count,
                                unsigned char *target) {
    for (size_t i = 0; i < count; i += NAME(width)) {
        VECTOR v[4];
        for (size_t j = 0; j < 4; j++) {
            v[j] = NAME(load)(plane + j * pitch + i);
        }
        const VECTOR w[4] = {V(unpacklo_epi8)(v[0], v[1]), V(unpackhi_epi8)(v[0], v[1]),
                             V(unpacklo_epi8)(v[2], v[3]), V(unpackhi_epi8)(v[2], v[3])};
        for (size_t j = 0; j < 2; j++) {
            unsigned char *const t = target + 4 * i + 32 * j;
            NAME(store)(t, 64, V(unpacklo_epi16)(w[j], w[2 + j]));
            NAME(store)(t + 16, 64, V(unpackhi_epi16)(w[j], w[2 + j]));
        }
    }
}

/* Byte i of v[j] becomes byte j of the group of eight number i of v, half by half. */
TARGET static inline void NAME(interleave8)(VECTOR v[8]) {
    VECTOR w[8];
    for (size_t j = 0; j < 4; j++) {
        w[2 * j] = V(unpacklo_epi8)(v[2 * j], v[2 * j + 1]);
        w[2 * j + 1] = V(unpackhi_epi8)(v[2 * j], v[2 * j + 1]);
    }
    for (size_t j = 0; j < 2; j++) { /* v: bytes 0..3 of groups 4 j .., then bytes 4..7 */
        v[2 * j] = V(unpacklo_epi16)(w[j], w[2 + j]);
        v[2 * j + 1] = V(unpackhi_epi16)(w[j], w[2 + j]);
        v[2 * j + 4] = V(unpacklo_epi16)(w[4 + j], w[6 + j]);
        v[2 * j + 5] = V(unpackhi_epi16)(w[4 + j], w[6 + j]);
    }
    for (size_t j = 0; j < 4; j++) {
        w[2 * j] = V(unpacklo_epi32)(v[j], v[4 + j]);
        w[2 * j + 1] = V(unpackhi_epi32)(v[j], v[4 + j]);
    }
    for (size_t j = 0; j < 8; j++) {
        v[j] = w[j];
    }
}

TARGET static void NAME(bytes8)(const unsigned char *plane, size_t pitch, size_t count,
                                unsigned char *target) {
    for (size_t i = 0; i < count; i += NAME(width)) {
        VECTOR v[8];
        for (size_t j = 0; j < 8; j++) {
            v[j] = NAME(load)(plane + j * pitch + i);
        }
        NAME(interleave8)(v);
        for (size_t j = 0; j < 8; j++) {
            NAME(store)(target + 8 * i + 16 * j, 128, v[j]);
        }
    }
}

TARGET static void NAME(bytes)(const unsigned char *plane, size_t pitch, size_t count,
                               size_t planes, unsigned char *target, size_t stride) {
    size_t done = count / NAME(width) * NAME(width);
    if (planes == 2 && stride == 2) {
        NAME(bytes2)(plane, pitch, done, target);
    } else if (planes == 4 && stride == 4) {
        NAME(bytes4)(plane, pitch, done, target);
    } else if (planes == 8 && stride == 8) {
        NAME(bytes8)(plane, pitch, done, target);
    } else {
        done = 0;
    }
    bytes_c(plane + done, pitch, count - done, planes, target + done * stride, stride);
}

/* Exchanges the bits of mask in b with those of mask << shift in a. Shifts cross the borders of
 * bytes, masks cut that off. */
#define SWAP(a, b, shift, mask)                                                                    \
    do {                                                                                           \
        const VECTOR t_ =                                                                          \
            V_LOGIC(and)(V_LOGIC(xor)(V(srli_epi16)(a, shift), b), V(set1_epi8)(mask));            \
        (b) = V_LOGIC(xor)(b, t_);                                                                 \
        (a) = V_LOGIC(xor)(a, V(slli_epi16)(t_, shift));                                           \
    } while (0)

/* The 8 x 8 transposition of bits_c, with the rows in eight registers: v[b] then holds element b of
 * each group of eight. */
TARGET static void NAME(bits)(const unsigned char *row, size_t pitch, size_t count,
                              unsigned char *plane) {
    const size_t done = count / NAME(width) * NAME(width);
    for (size_t i = 0; i < done; i += NAME(width)) {
        VECTOR v[8];
        for (size_t k = 0; k < 8; k++) {
            v[k] = NAME(load)(row + k * pitch + i);
        }
        for (size_t k = 0; k < 4; k++) {
            SWAP(v[k], v[k + 4], 4, 0x0f);
        }
        for (size_t k = 0; k < 8; k += k % 2 ? 3 : 1) { /* 0, 1, 4, 5 */
            SWAP(v[k], v[k + 2], 2, 0x33);
        }
        for (size_t k = 0; k < 8; k += 2) {
            SWAP(v[k], v[k + 1], 1, 0x55);
        }
        NAME(interleave8)(v);
        for (size_t j = 0; j < 8; j++) {
            NAME(store)(plane + 8 * i + 16 * j, 128, v[j]);
        }
    }
    bits_c(row + done, pitch, count - done, plane + 8 * done);
}

#undef HALVES
#undef VECTOR
#undef TARGET
#undef NAME
#undef V
#undef V_LOGIC
#undef SWAP
