/* SPDX-License-Identifier: Apache-2.0 */
#include "io/codec/codec_step.h"

#include "kern/kern.h"

enum { SUM = 4, LANES = 16, ROWS = 256, MODULUS = 65535 };

/* sum1 = sum of the words, sum2 = sum of the sums so far, both modulo 2^16 - 1, of words as they lie
 * in memory of a little-endian machine. Swapping the bytes of every word swaps those of both sums
 * (it is a multiplication by 2^8), so the two ways in which HDF5 has written them need one pass. */
typedef struct sums {
    uint64_t one, two;
} sums;

static void add_word(sums *s, uint64_t word) {
    s->one = (s->one + word) % MODULUS;
    s->two = (s->two + s->one) % MODULUS;
}

/* rows of LANES words. In lane l row r of R stands at r LANES + l, so it enters the second sum
 * (R - r) LANES - l times; the lanes' own second sums count it R - r times. ROWS keeps those below
 * 2^32: 256 * 257 / 2 * 65535. */
SXI_CLONES static void add_rows(sums *s, const unsigned char *data, size_t rows) {
    uint32_t one[LANES] = {0};
    uint32_t two[LANES] = {0};
    for (size_t r = 0; r < rows; r++) {
        for (size_t l = 0; l < LANES; l++) {
            const unsigned char *const word = data + 2 * (r * LANES + l);
            one[l] += (uint32_t)word[0] | (uint32_t)word[1] << 8;
            two[l] += one[l];
        }
    }
    uint64_t all = 0;
    uint64_t twice = 0;
    uint64_t early = 0;
    for (size_t l = 0; l < LANES; l++) {
        all += one[l];
        twice += two[l];
        early += l * one[l];
    }
    s->two = (s->two + s->one * (rows * LANES) + twice * LANES - early) % MODULUS;
    s->one = (s->one + all) % MODULUS;
}

static sums sums_of(const unsigned char *data, size_t bytes) {
    sums s = {0, 0};
    size_t at = 0;
    for (size_t rows = bytes / (2 * LANES); rows > 0;) {
        const size_t some = rows < ROWS ? rows : ROWS;
        add_rows(&s, data + at, some);
        at += some * 2 * LANES;
        rows -= some;
    }
    for (; at + 2 <= bytes; at += 2) {
        add_word(&s, (uint64_t)data[at] | (uint64_t)data[at + 1] << 8);
    }
    if (at < bytes) {
        add_word(&s, data[at]);
    }
    return s;
}

/* Writers give a sum of zero as 0 or as 0xffff. */
static bool equal(uint64_t sum, unsigned low, unsigned high) {
    return sum % MODULUS == (low | high << 8) % MODULUS;
}

sx_status sxi_codec_fletcher32(sxi_codec_piece *piece) {
    if (piece->bytes < SUM) {
        return SXI_FAIL(SX_ERR_FORMAT, "fletcher32: %zu bytes are less than the checksum of 4",
                        piece->bytes);
    }
    const size_t bytes = piece->bytes - SUM;
    const unsigned char *const c = piece->in + bytes;
    const sums s = sums_of(piece->in, bytes);
    const bool as_now = equal(s.one, c[1], c[0]) && equal(s.two, c[3], c[2]);
    const bool as_once = equal(s.one, c[0], c[1]) && equal(s.two, c[2], c[3]);
    if (!as_now && !as_once) {
        return SXI_FAIL(SX_ERR_FORMAT,
                        "fletcher32: %zu bytes have the checksum %04x %04x, stored is %02x%02x "
                        "%02x%02x: the data are damaged",
                        bytes, (unsigned)s.two, (unsigned)s.one, c[3], c[2], c[1], c[0]);
    }
    piece->made = bytes;
    return SX_OK;
}
