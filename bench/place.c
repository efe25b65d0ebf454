/* SPDX-License-Identifier: Apache-2.0
 * Copying, converting and transposing [200][704][768] frames on one core, one JSON line per case:
 * GB/s of what is written, and the median ratio to memcpy of as many bytes in the same round.
 * Source and target are touched before. Transposed: into [704][768][200], so many frames at a time
 * out of one buffer that is used again, as a reader does.
 *
 *   bench_place [rounds]     5 by default */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kern/place.h"
#include "line.h"

enum { T = 200, H = 704, W = 768, PIXELS = H * W, MOST_ROUNDS = 99 };

typedef struct bench_case {
    const char *name;
    sx_dtype from, to;
    int frames; /* at a time; 0: in the order of the source */
} bench_case;

static const bench_case CASES[] = {
    {"copy", SX_U16, SX_U16, 0},       {"convert", SX_U16, SX_F32, 0},
    {"convert", SX_F64, SX_F32, 0},    {"transpose", SX_U16, SX_U16, 1},
    {"transpose", SX_U16, SX_U16, 2},  {"transpose", SX_U16, SX_U16, 4},
    {"transpose", SX_U16, SX_U16, 8},  {"transpose", SX_U16, SX_U16, 32},
    {"transpose", SX_U16, SX_U16, T},  {"transpose", SX_F32, SX_F32, 1},
    {"transpose", SX_F32, SX_F32, 2},  {"transpose", SX_F32, SX_F32, 4},
    {"transpose", SX_F32, SX_F32, 8},  {"transpose", SX_F32, SX_F32, 16},
    {"transpose", SX_F32, SX_F32, 32}, {"transpose", SX_F32, SX_F32, T},
    {"transpose", SX_U16, SX_F32, 1},  {"transpose", SX_U16, SX_F32, 4},
    {"transpose", SX_U16, SX_F32, 8},  {"transpose", SX_U16, SX_F32, 16},
    {"transpose", SX_U16, SX_F32, T},
};
enum { N = sizeof CASES / sizeof *CASES };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static sxi_place_type type_of(sx_dtype dtype) {
    return (sxi_place_type){SXI_PLACE_NUMBER, dtype, false, (int64_t)sx_dtype_size(dtype)};
}

static void run(const bench_case *c, const char *source, char *target) {
    const sxi_place_type from = type_of(c->from), to = type_of(c->to);
    const int64_t step = c->frames ? c->frames : T;
    for (int64_t t = 0; t < T; t += step) {
        const int64_t frames = t + step > T ? T - t : step;
        sxi_place_box box = {2, {frames, PIXELS}, {PIXELS * from.bytes, from.bytes}, {0}};
        box.target_stride[0] = c->frames ? to.bytes : PIXELS * to.bytes;
        box.target_stride[1] = c->frames ? T * to.bytes : to.bytes;
        sxi_place(&box, source, &from, target + t * box.target_stride[0], &to);
    }
}

static void print_line(const bench_case *c, int rounds, double *rate, double *ratio) {
    line_begin("place", c->name);
    printf(", \"from\": \"%s\", \"to\": \"%s\", \"frames_at_a_time\": %d, "
           "\"shape\": [%d, %d, %d], \"gb_per_s\": %.2f, \"of_memcpy\": %.3f, \"rounds\": %d",
           sx_dtype_name(c->from), sx_dtype_name(c->to), c->frames, T, H, W,
           line_spread_of(rounds, rate).median * 1e-9, line_spread_of(rounds, ratio).median,
           rounds);
    line_end();
}

int main(int count, char **words) {
    int rounds = count > 1 ? atoi(words[1]) : 5;
    rounds = rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds;
    const size_t most = (size_t)T * PIXELS * 8;
    static double rate[N][MOST_ROUNDS], ratio[N][MOST_ROUNDS];
    char *source = malloc(most), *target = malloc(most);
    if (!source || !target) {
        fprintf(stderr, "bench_place: no memory for 2 x %zu bytes\n", most);
        free(source);
        free(target);
        return 1;
    }
    memset(source, 1, most);
    memset(target, 1, most);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < N; i++) {
            const size_t bytes = (size_t)T * PIXELS * sx_dtype_size(CASES[i].to);
            const double start = seconds();
            memcpy(target, source, bytes);
            const double middle = seconds();
            run(&CASES[i], source, target);
            const double end = seconds();
            rate[i][round] = (double)bytes / (end - middle);
            ratio[i][round] = (middle - start) / (end - middle);
        }
    }
    for (int i = 0; i < N; i++) {
        print_line(&CASES[i], rounds, rate[i], ratio[i]);
    }
    free(source);
    free(target);
    return 0;
}
