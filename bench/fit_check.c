/* SPDX-License-Identifier: Apache-2.0
 * Are the fits right? Many traces, each against the truth, against the exact minimum, and against the
 * best of many starts: one JSON line per case.
 *
 *   bench_fit_check [-n traces (20000)] [-f first (0)] [-s seed (4004)] [-c word in the case]
 *                   [-j threads (1)] [-b] [-v]
 *
 * reached_truth  share whose chi2 is that of a fit started at the truth, to a factor 1 + 1e-4
 * g_exact, f_exact  share of the fits with state ok that lie within 1e-6 of the minimum itself, which is
 *                where Newton's method goes from the result, with all second derivatives
 * wrong          state ok, though the best of the starts has a chi2 below it by more than a factor
 *                1 + 1e-4. The starts: the truth, and up to 31 more, fitted by the exact core through
 *                `start`. For one mode they are the peaks of fit_starts.h; with -b, and for two modes,
 *                one in each of 31 strips of frequency, anywhere in it, decay 0.05 to 5 per ps
 * wrong_fit      those of them where that better minimum is a fit with state ok itself
 * -v prints each of the wrong ones. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "fit_case.h"
#include "fit_newton.h"
#include "fit_peer.h"
#include "fit_starts.h"
#include "line.h"

enum { BLOCK = 500 };
static const double SAME_MINIMUM = 1 + 1e-4; /* of chi2 */
static const double EXACT = 1e-6;

typedef struct check {
    int64_t first, traces;
    uint64_t seed;
    const char *word;
    int threads;
    bool blind, verbose;
} check;

typedef struct counts {
    int64_t traces, reached, ok, settled, g_exact, f_exact, starts, wrong, wrong_fit, failures;
} counts;

/* A block in memory. */
typedef struct block {
    fit_data data;
    fit_data part; /* traces that have one more start */
    sx_dcos_fit *fit, *from, *to, *best;
    sx_dcos_fit (*start)[FIT_STARTS];
    int number[BLOCK];      /* of starts */
    int index[BLOCK];       /* in data, of a trace of part */
    double *chi2, *reached; /* of fit, and from the truth */
    fit_starts *starts;
} block;

static bool block_create(const check *k, const fit_case *c, double most, block *b) {
    *b = (block){.fit = malloc(BLOCK * sizeof *b->fit),
                 .from = malloc(BLOCK * sizeof *b->from),
                 .to = malloc(BLOCK * sizeof *b->to),
                 .best = malloc(BLOCK * sizeof *b->best),
                 .start = malloc(BLOCK * sizeof *b->start),
                 .chi2 = malloc(BLOCK * sizeof *b->chi2),
                 .reached = malloc(BLOCK * sizeof *b->reached)};
    const bool room = fit_data_create(c, k->seed, BLOCK, &b->data);
    b->starts = room ? fit_starts_create(&b->data, most) : NULL;
    return fit_data_create(c, k->seed, BLOCK, &b->part) && b->starts && b->fit && b->from &&
           b->to && b->best && b->start && b->chi2 && b->reached;
}

static void block_destroy(block *b) {
    fit_data_destroy(&b->data);
    fit_data_destroy(&b->part);
    fit_starts_destroy(b->starts);
    free(b->fit);
    free(b->from);
    free(b->to);
    free(b->best);
    free(b->start);
    free(b->chi2);
    free(b->reached);
}

/* A mode in each strip; the second one in strips that differ from trace to trace. */
static void fill_strips(const fit_data *data, uint64_t p, double least, double most,
                        sx_dcos_fit start[FIT_STARTS]) {
    enum { FREQUENCY = 100, DECAY = 200 };
    for (int number = 0; number < FIT_STARTS; number++) {
        start[number] = (sx_dcos_fit){.modes = (uint8_t)data->c->modes};
        start[number].background_time = (double)NAN;
        for (int k = 0; k < data->c->modes; k++) {
            const uint64_t at = p * FIT_MOST_MODES + (uint64_t)k;
            const uint32_t stream = (uint32_t)number;
            const double u = sxi_rng_uniform(data->seed, FREQUENCY + stream, at);
            const double v = sxi_rng_uniform(data->seed, DECAY + stream, at);
            const int shift = k * (int)(1 + p % (FIT_STARTS - 1));
            const double strip = (number + shift) % FIT_STARTS + u;
            start[number].mode[k].frequency = least + (most - least) * strip / FIT_STARTS;
            start[number].mode[k].decay = 0.05 * pow(100, v);
        }
    }
}

static void fill_starts(const check *k, const sx_dcos_plan *plan, int64_t first, block *b) {
    const int count = (int)b->data.count;
    double least, most;
    sx_dcos_plan_window(plan, &least, &most);
    if (!k->blind && b->data.c->modes == 1) {
        for (int i = 0; i < count; i += FIT_STARTS_WIDTH) {
            const int width = count - i < FIT_STARTS_WIDTH ? count - i : FIT_STARTS_WIDTH;
            fit_starts_find(b->starts, &b->data, i, width, b->number + i, b->start + i);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        fill_strips(&b->data, (uint64_t)(first + i), least, most, b->start[i]);
        b->number[i] = FIT_STARTS;
    }
}

/* Start number of every trace that has one; the best by chi2 per degree of freedom, of which all have
 * the same. */
static sx_status try_start(const sx_dcos_plan *plan, int number, block *b, counts *n) {
    const size_t nt = (size_t)b->data.c->nt;
    int count = 0;
    for (int i = 0; i < (int)b->data.count; i++) {
        if (number < b->number[i]) {
            memcpy(b->part.y + (size_t)count * nt, b->data.y + (size_t)i * nt, nt * sizeof(double));
            memcpy(b->part.sigma + (size_t)count * nt, b->data.sigma + (size_t)i * nt,
                   nt * sizeof(double));
            b->from[count] = b->start[i][number];
            b->index[count++] = i;
        }
    }
    n->starts += count;
    const sx_status status = fit_data_run(&b->part, plan, 0, count, b->from, b->to);
    for (int j = 0; status == SX_OK && j < count; j++) {
        sx_dcos_fit *best = &b->best[b->index[j]];
        *best = b->to[j].chi2 < best->chi2 ? b->to[j] : *best;
    }
    return status;
}

/* The result as parameters, moved to the minimum; false: Newton's method left the basin. */
static bool settle(const block *b, int64_t i, double *p) {
    const fit_problem problem = fit_problem_of(&b->data, i);
    const sx_dcos_fit *fit = &b->fit[i];
    p[0] = fit->offset;
    for (int k = 0; k < problem.modes && k < FIT_MOST_MODES; k++) {
        const sx_dcos_mode *m = &fit->mode[k];
        const double q[4] = {m->amplitude, m->decay, m->frequency, m->phase};
        memcpy(p + 1 + 4 * k, q, sizeof q);
    }
    return fit_newton(&problem, p);
}

static void judge(const check *k, const block *b, int64_t first, int64_t i, counts *n) {
    const sx_dcos_fit *fit = &b->fit[i];
    double p[FIT_MOST_PARAMETERS];
    n->reached += b->chi2[i] <= SAME_MINIMUM * b->reached[i];
    if (fit->state != SX_DCOS_OK) {
        return;
    }
    n->ok++;
    if (settle(b, i, p)) {
        bool g = true, f = true;
        for (int m = 0; m < fit->modes; m++) {
            g = g && fabs(fit->mode[m].decay / p[2 + 4 * m] - 1) <= EXACT;
            f = f && fabs(fit->mode[m].frequency / p[3 + 4 * m] - 1) <= EXACT;
        }
        n->settled++;
        n->g_exact += g;
        n->f_exact += f;
    }
    const double best = fit_data_chi2(&b->data, i, &b->best[i]);
    if (b->chi2[i] > SAME_MINIMUM * best || isnan(b->chi2[i])) {
        n->wrong++;
        n->wrong_fit += b->best[i].state == SX_DCOS_OK;
        if (k->verbose) {
            fprintf(
                stderr,
                "%s: trace %lld: f %.4f g %.4f chi2 %.6g; better: f %.4f g %.4f chi2 %.6g, %s\n",
                b->data.c->name, (long long)(first + i), fit->mode[0].frequency, fit->mode[0].decay,
                b->chi2[i], b->best[i].mode[0].frequency, b->best[i].mode[0].decay, best,
                sx_dcos_state_word(b->best[i].state));
        }
    }
}

static sx_status run_block(const check *k, const sx_dcos_plan *plan, int64_t first, block *b,
                           counts *n) {
    const int64_t left = k->first + k->traces - first;
    fit_data_fill(first, left < BLOCK ? left : BLOCK, &b->data);
    fill_starts(k, plan, first, b);
    sx_status status = fit_data_run(&b->data, plan, 0, b->data.count, NULL, b->fit);
    if (status == SX_OK) {
        status = fit_data_run(&b->data, plan, 0, b->data.count, b->data.truth, b->best);
    }
    for (int64_t i = 0; status == SX_OK && i < b->data.count; i++) {
        b->chi2[i] = fit_data_chi2(&b->data, i, &b->fit[i]);
        b->reached[i] = fit_data_chi2(&b->data, i, &b->best[i]);
    }
    for (int number = 0; status == SX_OK && number < FIT_STARTS; number++) {
        status = try_start(plan, number, b, n);
    }
    for (int64_t i = 0; status == SX_OK && i < b->data.count; i++) {
        judge(k, b, first, i, n);
    }
    n->traces += b->data.count;
    return status;
}

static void add(const counts *part, counts *sum) {
    const int64_t *from = &part->traces;
    int64_t *to = &sum->traces;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) {
        to[i] += from[i];
    }
}

static void print_counts(const check *k, const fit_case *c, const counts *n) {
    const double reached = (double)n->reached / (double)n->traces;
    const double g = (double)n->g_exact / (double)n->ok, f = (double)n->f_exact / (double)n->ok;
    const double wrong = (double)n->wrong / (double)n->traces;
    line_begin("fit_check", c->name);
    printf(", \"samples\": %d, \"traces\": %lld, \"ok\": %.5f, \"reached_truth\": %.5f, "
           "\"settled\": %.5f, \"g_exact\": %.5f, \"f_exact\": %.5f, \"starts\": %.2f, \"wrong\": "
           "%lld, \"wrong_fit\": %lld, \"seed\": %llu, \"goal\": \"reached_truth >= 0.998, g_exact "
           "and f_exact >= 0.99, wrong <= 1e-5 traces\", \"met\": %s",
           c->nt, (long long)n->traces, (double)n->ok / (double)n->traces, reached,
           (double)n->settled / (double)n->ok, g, f, 1 + (double)n->starts / (double)n->traces,
           (long long)n->wrong, (long long)n->wrong_fit, (unsigned long long)k->seed,
           reached >= 0.998 && g >= 0.99 && f >= 0.99 && wrong <= 1e-5 ? "true" : "false");
    line_end();
}

/* Blocks are independent; a thread has room for one. */
static int check_case(const check *k, const fit_case *c) {
    counts sum = {0};
    sx_dcos_plan *plan = NULL;
    double least = 0, most = 0;
    fit_data delays;
    const bool room = fit_data_create(c, k->seed, 1, &delays);
    if (!room || fit_data_plan(&delays, &plan) != SX_OK) {
        sum.failures++;
    } else {
        sx_dcos_plan_window(plan, &least, &most);
    }
    fit_data_destroy(&delays);
#pragma omp parallel num_threads(k->threads)
    {
        block b;
        counts part = {.failures = !block_create(k, c, most, &b)};
#pragma omp for schedule(dynamic)
        for (int64_t first = k->first; first < k->first + k->traces; first += BLOCK) {
            if (plan && !part.failures) {
                part.failures += run_block(k, plan, first, &b, &part) != SX_OK;
            }
        }
        block_destroy(&b);
#pragma omp critical
        add(&part, &sum);
    }
    sx_dcos_plan_destroy(&plan);
    if (sum.failures) {
        fprintf(stderr, "bench_fit_check: %s: a fit failed, or no memory: %s\n", c->name,
                sx_error_message());
        return 1;
    }
    print_counts(k, c, &sum);
    return 0;
}

static int usage(void) {
    fputs("bench_fit_check: expected [-n traces] [-f first] [-s seed] [-c word] [-b] [-j threads] "
          "[-v]\n",
          stderr);
    return 2;
}

int main(int count, char **words) {
    check k = {.traces = 20000, .seed = 4004, .word = "", .threads = 1};
    int failed = 0;
    for (int option; (option = getopt(count, words, "n:f:s:c:j:bv")) != -1;) {
        switch (option) {
        case 'n':
            k.traces = atoll(optarg);
            break;
        case 'f':
            k.first = atoll(optarg);
            break;
        case 's':
            k.seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            k.word = optarg;
            break;
        case 'j':
            k.threads = atoi(optarg);
            break;
        case 'b':
            k.blind = true;
            break;
        case 'v':
            k.verbose = true;
            break;
        default:
            return usage();
        }
    }
    if (optind != count || k.traces < 1 || k.first < 0 || k.threads < 1) {
        return usage();
    }
    for (int i = 0; i < FIT_CASE_COUNT && !failed; i++) { /* those of a known number of modes */
        const fit_case *c = &FIT_CASES[i];
        const bool wanted = !c->automatic && c->gaps == FIT_COMPLETE;
        failed = wanted && strstr(c->name, k.word) ? check_case(&k, c) : 0;
    }
    return failed;
}
