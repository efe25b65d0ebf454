/* SPDX-License-Identifier: Apache-2.0
 * Each filter against streams written by hand from the description of its format, and the sentences
 * for what is none. */
#include "io/codec/codec.h"

#include <string.h>

#include "codec_pipelines.h"
#include "sx_check.h"

static sxi_codec_state *state;
static unsigned char found[4096];

/* A stream given as text, with its NULs. */
#define BYTES(text) (const unsigned char *)(text), sizeof(text) - 1

static sx_status decode(sxi_codec_step step, size_t chunk, const unsigned char *stored,
                        size_t bytes) {
    const sxi_codec codec = {.steps = 1, .step = {step}, .element = 1, .chunk = chunk};
    return sx_decode(&codec, 0, stored, bytes, true, state, found);
}

static void is(const unsigned char *expected, size_t n) {
    for (size_t i = 0; i < n; i++) {
        ck_assert_msg(found[i] == expected[i], "byte %zu is %02x, expected %02x", i, found[i],
                      expected[i]);
    }
}

static const sxi_codec_step gzip = {1, 1, {6}}, shuffle3 = {2, 1, {3}}, fletcher = {3, 0, {0}};
static const sxi_codec_step lzf = {32000, 3, {4, 261, 0}}, blosc = {32001, 0, {0}};
static const sxi_codec_step lz4 = {32004, 1, {0}}, zstd = {32015, 0, {0}};

START_TEST(shuffle_keeps_what_is_less_than_an_element) {
    ck_ok(decode(shuffle3, 11, BYTES("adgbehcfi01")));
    is(BYTES("abcdefghi01"));
    ck_ok(decode(shuffle3, 2, BYTES("xy")));
    is(BYTES("xy"));
}
END_TEST

START_TEST(gzip_is_a_zlib_stream) {
    static const char stream[] = "\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\x00\x06\x2c\x02\x15";
    ck_ok(decode(gzip, 5, BYTES(stream)));
    is(BYTES("hello"));
    ck_ok(decode(gzip, 5, BYTES("\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\x00\x06\x2c\x02\x15more")));
    ck_fails(decode(gzip, 4, BYTES(stream)), SX_ERR_FORMAT, "more than the 4 bytes expected");
    ck_fails(decode(gzip, 6, BYTES(stream)), SX_ERR_FORMAT, "decode to 5, a chunk has 6");
    ck_fails(decode(gzip, 5, BYTES("\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\x00\x06\x2c\x02\x16")),
             SX_ERR_FORMAT, "gzip: the 13 stored bytes are damaged");
}
END_TEST

START_TEST(fletcher32_takes_both_byte_orders) {
    ck_ok(decode(fletcher, 5, BYTES("\1\2\3\4\5\x06\x09\x0e\x0e")));
    is(BYTES("\1\2\3\4\5"));
    ck_ok(decode(fletcher, 5, BYTES("\1\2\3\4\5\x09\x06\x0e\x0e"))); /* HDF5 before 1.6.3 */
    ck_ok(decode(fletcher, 4, BYTES("\1\2\3\4\x06\x04\x08\x05")));
    ck_fails(decode(fletcher, 4, BYTES("\1\2\3\5\x06\x04\x08\x05")), SX_ERR_FORMAT,
             "the data are damaged");
    ck_fails(decode(fletcher, 4, BYTES("\1\2\3\4\x06\x04\x08\x06")), SX_ERR_FORMAT, "checksum");
    ck_fails(decode(fletcher, 4, BYTES("\1\2\3")), SX_ERR_FORMAT, "less than the checksum of 4");
}
END_TEST

START_TEST(fletcher32_takes_both_zeros) {
    ck_ok(decode(fletcher, 2, BYTES("\xff\xff\xff\xff\xff\xff")));
    ck_ok(decode(fletcher, 2, BYTES("\xff\xff\0\0\0\0")));
    ck_ok(decode(fletcher, 2, BYTES("\0\0\0\0\0\0")));
    ck_ok(decode(fletcher, 2, BYTES("\0\0\xff\xff\0\0")));
}
END_TEST

START_TEST(lzf_copies_literals_and_repeats) {
    ck_ok(decode(lzf, 6, BYTES("\2abc\x20\2")));
    is(BYTES("abcabc"));
    ck_ok(decode(lzf, 15, BYTES("\0z\xe0\5\0"))); /* overlapping, long */
    is(BYTES("zzzzzzzzzzzzzzz"));
    ck_ok(decode(lzf, 7, BYTES("\1ab\x40\1\0c")));
    is(BYTES("ababab"
             "c"));
    ck_fails(decode(lzf, 6, BYTES("\2abc\x20\3")), SX_ERR_FORMAT, "refers 4 bytes back, 3 are");
    ck_fails(decode(lzf, 6, BYTES("\2abc\x20")), SX_ERR_FORMAT, "cut at byte 5");
    ck_fails(decode(lzf, 6, BYTES("\2abc\xe0\0")), SX_ERR_FORMAT, "cut at byte 5");
    ck_fails(decode(lzf, 6, BYTES("\3abc")), SX_ERR_FORMAT, "cut at byte 1");
    ck_fails(decode(lzf, 5, BYTES("\2abc\x20\2")), SX_ERR_FORMAT, "more than the 5 bytes");
    ck_fails(decode(lzf, 2, BYTES("\2abc")), SX_ERR_FORMAT, "more than the 2 bytes");
}
END_TEST

START_TEST(lzf_refers_far_back) {
    static unsigned char stream[8448 + 8], values[8192 + 3];
    size_t at = 0;
    for (size_t i = 0; i < 8192; i++) {
        if (i % 32 == 0) {
            stream[at++] = 31;
        }
        stream[at++] = values[i] = (unsigned char)(i * i >> 5);
    }
    memcpy(stream + at, "\x3f\xff", 2); /* three bytes from 8192 back */
    memcpy(values + 8192, values, 3);
    const sxi_codec codec = {.steps = 1, .step = {lzf}, .element = 1, .chunk = sizeof values};
    unsigned char *made = malloc(sizeof values);
    ck_ok(sx_decode(&codec, 0, stream, at + 2, false, state, made));
    ck_assert_int_eq(memcmp(made, values, sizeof values), 0);
    free(made);
}
END_TEST

#define LZ4_HEADER(total, block) "\0\0\0\0\0\0\0" total "\0\0\0" block

START_TEST(lz4_blocks_are_packed_or_plain) {
    ck_ok(decode(lz4, 4, BYTES(LZ4_HEADER("\4", "\4") "\0\0\0\4abcd")));
    is(BYTES("abcd"));
    ck_ok(decode(lz4, 4, BYTES(LZ4_HEADER("\4", "\x7f") "\0\0\0\4abcd"))); /* block above total */
    ck_ok(decode(lz4, 20,
                 BYTES(LZ4_HEADER("\x14", "\x14") "\0\0\0\x0a\x1a"
                                                  "a\1\0\x50"
                                                  "aaaaa")));
    is(BYTES("aaaaaaaaaaaaaaaaaaaa"));
    ck_ok(decode(lz4, 5, BYTES(LZ4_HEADER("\5", "\3") "\0\0\0\3abc\0\0\0\2de")));
    is(BYTES("abcde"));
}
END_TEST

START_TEST(lz4_streams_that_are_none_are_refused) {
    ck_fails(decode(lz4, 4, BYTES("\0\0\0\0\0\0\0\4\0\0\0")), SX_ERR_FORMAT, "header of 12");
    ck_fails(decode(lz4, 4, BYTES(LZ4_HEADER("\5", "\5") "\0\0\0\5abcde")), SX_ERR_FORMAT,
             "says it holds 5 bytes, a chunk has room for 4");
    ck_fails(decode(lz4, 4, BYTES(LZ4_HEADER("\4", "\0") "\0\0\0\4abcd")), SX_ERR_FORMAT,
             "blocks of 0 bytes");
    ck_fails(decode(lz4, 4, BYTES(LZ4_HEADER("\4", "\2") "\0\0\0\2ab\0\0\0")), SX_ERR_FORMAT,
             "ends after 2 of 4 bytes");
    ck_fails(decode(lz4, 4, BYTES(LZ4_HEADER("\4", "\4") "\0\0\0\5abcd")), SX_ERR_FORMAT,
             "a block of 5 bytes has only 4 left");
    ck_fails(decode(lz4, 4, BYTES(LZ4_HEADER("\4", "\4") "\0\0\0\3abc")), SX_ERR_FORMAT,
             "a block of 3 stored bytes does not decode to 4");
}
END_TEST

/* One element of 0xff and one of 0x80 of eight of one byte: bit 0 is in all rows, bit 7 in the
 * last. */
START_TEST(bitshuffle_has_a_row_per_bit) {
    const sxi_codec_step one = {32008, 5, {0, 3, 1, 0, 0}}, two = {32008, 5, {0, 3, 2, 8, 0}};
    ck_ok(decode(one, 8, BYTES("\1\1\1\1\1\1\1\x81")));
    is(BYTES("\xff\0\0\0\0\0\0\x80"));
    ck_ok(decode(one, 11, BYTES("\1\1\1\1\1\1\1\x81rst")));
    is(BYTES("\xff\0\0\0\0\0\0\x80rst"));
    ck_ok(decode(two, 34,
                 BYTES("\2\0\0\0\0\0\0\0\4\4\0\0\0\0\0\0"
                       "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x80uv")));
    is(BYTES("\0\0\1\0\0\3\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80uv"));
    ck_fails(decode(two, 33, (const unsigned char *)"000000000000000000000000000000000", 33),
             SX_ERR_FORMAT, "33 bytes are no whole number of elements of 2");
}
END_TEST

#define BITS_HEADER(total, block) "\0\0\0\0\0\0\0" total "\0\0\0" block

START_TEST(bitshuffle_compresses_block_by_block) {
    const sxi_codec_step step = {32008, 5, {0, 3, 1, 16, 2}}, zip = {32008, 5, {0, 3, 1, 0, 3}};
    /* blocks of 8, not of 16: the stream has the last word */
    ck_ok(decode(step, 18,
                 BYTES(BITS_HEADER("\x12", "\x8") "\0\0\0\x9\x80\1\1\1\1\1\1\1\x81"
                                                  "\0\0\0\x9\x80\2\2\2\2\2\2\2\2yz")));
    is(BYTES("\xff\0\0\0\0\0\0\x80\0\xff\0\0\0\0\0\0yz"));
    /* the default: one block of 8192 */
    ck_ok(decode(zip, 8,
                 BYTES(BITS_HEADER("\x8", "\0") "\0\0\0\x11\x28\xb5\x2f\xfd\x20\x8\x41\0\0"
                                                "\1\1\1\1\1\1\1\x81")));
    is(BYTES("\xff\0\0\0\0\0\0\x80"));
    ck_fails(decode(step, 8, BYTES("\0\0\0\0\0\0\0\4\0\0\0")), SX_ERR_FORMAT, "header of 12");
    ck_fails(decode(step, 8, BYTES(BITS_HEADER("\x9", "\x8"))), SX_ERR_FORMAT, "holds 9 bytes");
    ck_fails(decode(step, 8, BYTES(BITS_HEADER("\x8", "\x9"))), SX_ERR_FORMAT,
             "a block has 9 elements, which is no multiple of 8");
    ck_fails(decode(step, 8, BYTES(BITS_HEADER("\x8", "\x8") "\0\0\0")), SX_ERR_FORMAT,
             "a block of 0 bytes has only 3 left");
    ck_fails(decode(step, 8, BYTES(BITS_HEADER("\x8", "\x8") "\0\0\0\x9\x80\1\1")), SX_ERR_FORMAT,
             "a block of 9 bytes has only 3 left");
    ck_fails(decode(step, 8, BYTES(BITS_HEADER("\x8", "\x8") "\0\0\0\4\x30\1\1\1")), SX_ERR_FORMAT,
             "a block of 4 stored bytes does not decode to 8");
    ck_fails(decode(step, 5, BYTES(BITS_HEADER("\5", "\x8") "abcd")), SX_ERR_FORMAT,
             "4 bytes at the end, 5 expected");
}
END_TEST

START_TEST(bitshuffle_blocks_default_to_8192_bytes) {
    static unsigned char values[20000], stored[40000], made[20000];
    static const unsigned elements[] = {1, 2, 3, 8, 10, 100};
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        const unsigned element = elements[i];
        sxi_codec codec = {.steps = 1, .step = {{32008, 5, {0, 3, element, 0, 0}}}, .element = 1};
        codec.chunk = sizeof values / element * element;
        sx_values(SX_NOISE, values, codec.chunk);
        const size_t at_least = 128, full = 8192 / element / 8 * 8;
        const size_t block = full < at_least ? at_least : full;
        size_t at = 0;
        for (size_t left = codec.chunk / element; left >= 8;) {
            const size_t count = left < block ? left / 8 * 8 : block;
            sx_bits_apart(values + at, count, element, stored + at);
            at += count * element;
            left -= count;
        }
        memcpy(stored + at, values + at, codec.chunk - at);
        ck_ok(sx_decode(&codec, 0, stored, codec.chunk, true, state, made));
        ck_assert_msg(memcmp(made, values, codec.chunk) == 0, "element of %u bytes", element);
    }
}
END_TEST

START_TEST(zstd_is_frames) {
    static const char frame[] = "\x28\xb5\x2f\xfd\x20\5\x29\0\0hello";
    ck_ok(decode(zstd, 5, BYTES(frame)));
    is(BYTES("hello"));
    ck_ok(decode(zstd, 10,
                 BYTES("\x28\xb5\x2f\xfd\x20\5\x29\0\0hello"
                       "\x28\xb5\x2f\xfd\x20\5\x29\0\0again")));
    is(BYTES("helloagain"));
    ck_fails(decode(zstd, 4, BYTES(frame)), SX_ERR_FORMAT, "do not decode to at most 4");
    ck_fails(decode(zstd, 5, BYTES("hello world")), SX_ERR_FORMAT, "Zstd: 11 stored bytes");
}
END_TEST

#define BLOSC_HEADER(flags, total, stored)                                                         \
    "\2\1" flags "\1" total "\0\0\0" total "\0\0\0" stored "\0\0\0"

START_TEST(blosc_has_a_header_of_sixteen_bytes) {
    ck_ok(decode(blosc, 5, BYTES(BLOSC_HEADER("\2", "\5", "\x15") "hello"))); /* not compressed */
    is(BYTES("hello"));
    ck_fails(decode(blosc, 4, BYTES(BLOSC_HEADER("\2", "\5", "\x15") "hello")), SX_ERR_FORMAT,
             "says it holds 5 bytes, a chunk has room for 4");
    ck_fails(decode(blosc, 5, BYTES(BLOSC_HEADER("\2", "\5", "\x16") "hello")), SX_ERR_FORMAT,
             "the header of a stream of 21 bytes is damaged");
    ck_fails(decode(blosc, 5, BYTES(BLOSC_HEADER("\2", "\5", "\x0f") "hello")), SX_ERR_FORMAT,
             "damaged");
    ck_fails(decode(blosc, 5, BYTES("hello")), SX_ERR_FORMAT, "a stream of 5 bytes is damaged");
}
END_TEST

START_TEST(state_is_made_and_freed) {
    sxi_codec_state_destroy(&state);
    ck_assert_ptr_null(state);
    sxi_codec_state_destroy(&state);
    sxi_codec_state_destroy(NULL);
}
END_TEST

START_TEST(begin) { ck_ok(sxi_codec_state_create(&state)); }
END_TEST

SX_TEST_MAIN("codec_vector", begin, shuffle_keeps_what_is_less_than_an_element,
             gzip_is_a_zlib_stream, fletcher32_takes_both_byte_orders, fletcher32_takes_both_zeros,
             lzf_copies_literals_and_repeats, lzf_refers_far_back, lz4_blocks_are_packed_or_plain,
             lz4_streams_that_are_none_are_refused, bitshuffle_has_a_row_per_bit,
             bitshuffle_compresses_block_by_block, bitshuffle_blocks_default_to_8192_bytes,
             zstd_is_frames, blosc_has_a_header_of_sixteen_bytes, state_is_made_and_freed)
