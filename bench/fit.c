/* SPDX-License-Identifier: Apache-2.0
 * Fits of damped cosines per second of one core, beside what others reach on the same traces: JSON
 * lines. fit.sh starts it as it is meant to be.
 *
 *   bench_fit [options] compare    each case, with others in turn (Python if fit.sh started it)
 *   bench_fit [options] lengths    time against number of delays
 *   bench_fit [options] pixels     time against pixels per call; memory of many tiles
 *   bench_fit [options] threads    two threads, each its own tiles, against one (wall clock)
 *
 *   -r N  rounds (5)      -n N  traces (4000)      -s N  seed (4004; 987654 is kept for the end)
 *   -c W  cases that contain the word              -m N  traces of the many tiles (100000)
 *   -o    ours alone
 *   -p F  Python listens at file descriptor 4, answers at 3, and finds the data in folder F
 *
 * Processor time. Ours runs before every run of another, ratios are of such pairs. Ours includes all
 * that a call does (search, fit, errors, states); what others have not to do is told in fit_peer.h. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fit_case.h"
#include "fit_peak.h"
#include "fit_peer.h"
#include "line.h"

enum { MOST_ROUNDS = 99, TILE = 4096 };
static const double SLOT_S = 0.02;           /* ours is repeated for at least so long */
static const double SAME_MINIMUM = 1 + 1e-4; /* of chi2 */

typedef struct bench {
    int rounds;
    int64_t traces, many;
    uint64_t seed;
    const char *word, *folder;
    bool alone;
    FILE *to_python, *from_python;
} bench;

typedef struct peer {
    const char *name;
    fit_peer_fn run; /* NULL: Python */
    int64_t most;    /* traces per round, so that all take about as long */
    int modes;       /* it can fit at most */
} peer;

static const peer PEERS[] = {
    {"scipy_jacobian", NULL, 500, FIT_MOST_MODES},
    {"scipy_numeric", NULL, 500, FIT_MOST_MODES},
    {"lmfit_model", NULL, 60, 1},
    {"lmfit_minimize", NULL, 60, FIT_MOST_MODES},
#ifdef FIT_CMINPACK
    {"cminpack", fit_cminpack, 2000, FIT_MOST_MODES},
#endif
#ifdef FIT_GSL
    {"gsl", fit_gsl, 1000, FIT_MOST_MODES},
#endif
};
enum { PEERS_COUNT = sizeof PEERS / sizeof *PEERS };

/* What was measured of one solver. */
typedef struct record {
    int count;
    double seconds[MOST_ROUNDS * (PEERS_COUNT + 1)]; /* of one fit */
    double ratio[MOST_ROUNDS];
    double success, ours_success; /* share of the traces it fitted */
} record;

/* A case in memory. */
typedef struct session {
    fit_data data;
    sx_dcos_plan *plan;
    double plan_s;
    sx_dcos_fit *fit; /* [traces] */
    double *reached;  /* [traces] chi2 from the truth */
    double *start, *result;
} session;

static bool matches(const bench *b, const char *name) { return strstr(name, b->word) != NULL; }

static int complain(const char *name) {
    const char *words = sx_error_message();
    fprintf(stderr, "bench_fit: %s: %s\n", name, *words ? words : "no memory");
    return 1;
}

static void session_close(session *s) {
    fit_data_destroy(&s->data);
    sx_dcos_plan_destroy(&s->plan);
    free(s->fit);
    free(s->reached);
    free(s->start);
    free(s->result);
    *s = (session){0};
}

static sx_status session_open(const bench *b, const fit_case *c, int64_t traces, session *s) {
    const size_t parameters = (size_t)(traces * fit_parameters(c->modes));
    *s = (session){0};
    bool room = fit_data_create(c, b->seed, traces, &s->data);
    s->fit = malloc((size_t)traces * sizeof *s->fit);
    s->reached = malloc((size_t)traces * sizeof *s->reached);
    s->start = malloc(parameters * sizeof *s->start);
    s->result = malloc(parameters * sizeof *s->result);
    if (!room || !s->fit || !s->reached || !s->start || !s->result) {
        return SX_ERR_MEMORY;
    }
    fit_data_fill(0, traces, &s->data);
    const double begin = line_processor_seconds();
    const sx_status status = fit_data_plan(&s->data, &s->plan);
    s->plan_s = line_processor_seconds() - begin;
    return status;
}

/* Seconds of one fit of ours; negative on failure. Calls of so many traces at a time. */
static double run_ours(session *s, int64_t traces, int64_t at_a_time) {
    const double begin = line_processor_seconds();
    double seconds = 0;
    for (int64_t fits = 0;; fits += traces) {
        if (seconds > SLOT_S) {
            return seconds / (double)fits;
        }
        for (int64_t p = 0; p < traces; p += at_a_time) {
            const int64_t count = p + at_a_time > traces ? traces - p : at_a_time;
            if (fit_data_run(&s->data, s->plan, p, count,
                             s->data.c->warm ? s->data.start + p : NULL, s->fit + p) != SX_OK) {
                return -1;
            }
        }
        seconds = line_processor_seconds() - begin;
    }
}

/* The best that a fit from the truth finds; overwrites s->fit. */
static sx_status fill_reached(session *s) {
    const sx_status status =
        fit_data_run(&s->data, s->plan, 0, s->data.count, s->data.truth, s->fit);
    for (int64_t p = 0; status == SX_OK && p < s->data.count; p++) {
        s->reached[p] = fit_data_chi2(&s->data, p, &s->fit[p]);
    }
    return status;
}

static double success_of_ours(const session *s, int64_t count) {
    int64_t good = 0;
    for (int64_t p = 0; p < count; p++) {
        good += fit_data_chi2(&s->data, p, &s->fit[p]) <= SAME_MINIMUM * s->reached[p];
    }
    return (double)good / (double)count;
}

static double success_of_result(const session *s, int64_t count) {
    const int modes = s->data.c->modes;
    int64_t good = 0;
    for (int64_t p = 0; p < count; p++) {
        const sx_dcos_fit fit = fit_of_parameters(modes, s->result + p * fit_parameters(modes));
        good += fit_data_chi2(&s->data, p, &fit) <= SAME_MINIMUM * s->reached[p];
    }
    return (double)good / (double)count;
}

/* --- others --------------------------------------------------------------------------------- */

static bool write_file(const bench *b, const char *name, const double *values, int64_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", b->folder, name);
    FILE *file = fopen(path, "wb");
    const bool good = file && fwrite(values, sizeof *values, (size_t)count, file) == (size_t)count;
    return file && fclose(file) == 0 && good;
}

static bool read_result(const bench *b, double *values, int64_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/result", b->folder);
    FILE *file = fopen(path, "rb");
    const bool good = file && fread(values, sizeof *values, (size_t)count, file) == (size_t)count;
    return file && fclose(file) == 0 && good;
}

/* A line for a line; negative: no answer. */
static double ask(const bench *b, const char *question) {
    char answer[64];
    if (!b->to_python || fprintf(b->to_python, "%s\n", question) < 0 || fflush(b->to_python) != 0 ||
        !fgets(answer, sizeof answer, b->from_python)) {
        return -1;
    }
    return strtod(answer, NULL);
}

static bool show_python(const bench *b, const session *s) {
    const fit_data *data = &s->data;
    const int nt = data->c->nt, modes = data->c->modes;
    char question[4200];
    snprintf(question, sizeof question, "load %s %d %lld %d %d", b->folder, nt,
             (long long)data->count, modes, data->c->noise != FIT_UNKNOWN);
    return write_file(b, "t", data->t, nt) && write_file(b, "y", data->y, data->count * nt) &&
           write_file(b, "sigma", data->sigma, data->count * nt) &&
           write_file(b, "start", s->start, data->count * fit_parameters(modes)) &&
           ask(b, question) > 0;
}

static bool usable(const bench *b, const peer *who, const fit_case *c) {
    char question[64];
    snprintf(question, sizeof question, "have %s", who->name);
    return !b->alone && c->peers && c->modes <= who->modes && (who->run || ask(b, question) > 0);
}

static int64_t traces_of(const session *s, const peer *who) {
    return s->data.count < who->most ? s->data.count : who->most;
}

/* Seconds of one fit of another; negative on failure. */
static double run_peer(const bench *b, const session *s, const peer *who) {
    const int64_t count = traces_of(s, who);
    char question[64];
    if (!who->run) {
        snprintf(question, sizeof question, "run %s %lld", who->name, (long long)count);
        const double seconds = ask(b, question);
        const int64_t values = count * fit_parameters(s->data.c->modes);
        return seconds > 0 && read_result(b, s->result, values) ? seconds / (double)count : -1;
    }
    const double begin = line_processor_seconds();
    return who->run(&s->data, count, s->start, s->result)
               ? (line_processor_seconds() - begin) / (double)count
               : -1;
}

/* --- compare -------------------------------------------------------------------------------- */

/* What a pass of the lane kernel over the samples has to do: per mode and sample, the sums of y,
 * t y and t^2 y with the wave are six multiply-adds. The Gram sums, the search and the last sweep for
 * the errors are not counted, so the true share of the peak is higher. */
static double flop_of_passes(const session *s) {
    double passes = 0;
    for (int64_t p = 0; p < s->data.count; p++) {
        passes += s->fit[p].iterations * s->fit[p].modes;
    }
    return 2 * 6 * s->data.c->nt * passes / (double)s->data.count;
}

static void print_time(const session *s, const char *solver, int64_t traces, double seconds,
                       const bench *b) {
    printf(", \"solver\": \"%s\", \"samples\": %d, \"traces\": %lld, \"us_per_fit\": %.3f, "
           "\"fits_per_second\": %.0f, \"rounds\": %d, \"seed\": %llu",
           solver, s->data.c->nt, (long long)traces, 1e6 * seconds, 1 / seconds, b->rounds,
           (unsigned long long)b->seed);
}

/* Shares of the states there are. */
static void print_states(const session *s) {
    const char *between = "";
    int64_t count[256] = {0};
    for (int64_t p = 0; p < s->data.count; p++) {
        count[s->fit[p].state]++;
    }
    printf(", \"states\": {");
    for (int state = 0; state < 256; state++) {
        if (count[state]) {
            printf("%s\"%s\": %.4f", between, sx_dcos_state_word(state),
                   (double)count[state] / (double)s->data.count);
            between = ", ";
        }
    }
    printf("}");
}

static void print_ours(const bench *b, const session *s, record *ours, fit_peak peak,
                       double peak_s) {
    const fit_case *c = s->data.c;
    const double seconds = line_spread_of(ours->count, ours->seconds).median;
    int64_t right = 0, evaluations = 0;
    for (int64_t p = 0; p < s->data.count; p++) {
        right += s->fit[p].modes == c->modes;
        evaluations += s->fit[p].iterations;
    }
    const double count = (double)s->data.count, flop = flop_of_passes(s);
    line_begin("fit", c->name);
    print_time(s, "sextant", s->data.count, seconds, b);
    printf(", \"us_least\": %.3f, \"plan_ms\": %.2f, \"right_modes\": %.4f, "
           "\"success\": %.4f, \"iterations\": %.2f, \"counted_flop\": %.0f, \"vectors\": \"%s\", "
           "\"peak_f64_gflops\": %.1f, \"peak_f32_gflops\": %.1f, \"of_peak_f64\": %.3f",
           1e6 * ours->seconds[0], 1e3 * s->plan_s, (double)right / count,
           success_of_ours(s, s->data.count), (double)evaluations / count, flop, peak.vectors,
           peak.f64 * 1e-9, peak.f32 * 1e-9, flop / seconds * peak_s);
    print_states(s);
    if (c->goal > 0) {
        printf(", \"goal\": \"fits_per_second >= %.0f\", \"met\": %s", c->goal,
               1 / seconds >= c->goal ? "true" : "false");
    }
    line_end();
}

static void print_peer(const bench *b, const session *s, const peer *who, record *r) {
    const fit_case *c = s->data.c;
    const line_spread ratio = line_spread_of(r->count, r->ratio);
    line_begin("fit", c->name);
    print_time(s, who->name, traces_of(s, who), line_spread_of(r->count, r->seconds).median, b);
    printf(", \"success\": %.4f, \"sextant_success\": %.4f, \"over_sextant\": %.2f, "
           "\"over_sextant_least\": %.2f, \"over_sextant_most\": %.2f, \"start\": \"peak of the "
           "periodogram, not timed\"",
           r->success, r->ours_success, ratio.median, ratio.least, ratio.most);
    if (c->goal_ratio > 0 && who == &PEERS[0]) {
        printf(", \"goal\": \"over_sextant >= %.0f\", \"met\": %s", c->goal_ratio,
               ratio.median >= c->goal_ratio ? "true" : "false");
    }
    line_end();
}

/* One round: the peak, then ours and each of the others in turn. False: something failed. */
static bool compare_round(const bench *b, session *s, const bool use[PEERS_COUNT], record *ours,
                          record others[PEERS_COUNT]) {
    double mine = run_ours(s, s->data.count, s->data.count);
    ours->seconds[ours->count++] = mine;
    for (int i = 0; mine > 0 && i < PEERS_COUNT; i++) {
        if (!use[i]) {
            continue;
        }
        record *r = &others[i];
        const double theirs = run_peer(b, s, &PEERS[i]);
        if (!(theirs > 0)) {
            fprintf(stderr, "bench_fit: %s: %s does not answer\n", s->data.c->name, PEERS[i].name);
            return false;
        }
        r->seconds[r->count] = theirs;
        r->ratio[r->count++] = theirs / mine;
        r->success = success_of_result(s, traces_of(s, &PEERS[i]));
        r->ours_success = success_of_ours(s, traces_of(s, &PEERS[i]));
        mine = run_ours(s, s->data.count, s->data.count);
        ours->seconds[ours->count++] = mine;
    }
    return mine > 0;
}

static int compare_case(const bench *b, const fit_case *c) {
    static record ours, others[PEERS_COUNT];
    session s;
    fit_peak peak = {0};
    double peak_s[MOST_ROUNDS];
    bool use[PEERS_COUNT], good = session_open(b, c, b->traces, &s) == SX_OK;
    good = good && fill_reached(&s) == SX_OK && run_ours(&s, s.data.count, s.data.count) > 0;
    good = good && (!c->peers || b->alone || fit_peer_starts(&s.data, s.data.count, s.start));
    good = good && (!c->peers || !b->to_python || show_python(b, &s));
    memset(&ours, 0, sizeof ours);
    memset(others, 0, sizeof others);
    for (int i = 0; i < PEERS_COUNT; i++) {
        use[i] = usable(b, &PEERS[i], c);
    }
    for (int round = 0; good && round < b->rounds; round++) {
        peak = fit_peak_measure();
        peak_s[round] = 1 / peak.f64;
        good = compare_round(b, &s, use, &ours, others);
    }
    if (good) {
        print_ours(b, &s, &ours, peak, line_spread_of(b->rounds, peak_s).median);
    }
    for (int i = 0; good && i < PEERS_COUNT; i++) {
        if (use[i]) {
            print_peer(b, &s, &PEERS[i], &others[i]);
        }
    }
    session_close(&s);
    return good ? 0 : complain(c->name);
}

static int compare(const bench *b) {
    int failed = 0;
    const fit_case any = {"", 0, 1, .peers = true};
    for (int i = 0; i < PEERS_COUNT && !b->alone; i++) {
        if (!usable(b, &PEERS[i], &any)) {
            fprintf(stderr, "bench_fit: %s is not here\n", PEERS[i].name);
        }
    }
    for (int i = 0; i < FIT_CASE_COUNT && !failed; i++) {
        failed = matches(b, FIT_CASES[i].name) ? compare_case(b, &FIT_CASES[i]) : 0;
    }
    return failed;
}

/* --- lengths -------------------------------------------------------------------------------- */

static void print_length(const bench *b, const session *s, double us, line_spread relative) {
    line_begin("fit lengths", s->data.c->name);
    print_time(s, "sextant", b->traces, 1e-6 * us, b);
    printf(", \"per_delay_over_200\": %.3f, \"least\": %.3f, \"most\": %.3f, \"goal\": "
           "\"per_delay_over_200 <= 2\", \"met\": %s",
           relative.median, relative.least, relative.most, relative.median <= 2 ? "true" : "false");
    line_end();
}

/* All lengths in each round; per delay against the first of the same kind, which is 200. */
static int lengths(const bench *b) {
    enum { MOST = 16 };
    static double us[MOST][MOST_ROUNDS], relative[MOST][MOST_ROUNDS];
    session s[MOST];
    bool good = FIT_LENGTH_COUNT <= MOST;
    memset(s, 0, sizeof s);
    for (int i = 0; good && i < FIT_LENGTH_COUNT; i++) {
        good = session_open(b, &FIT_LENGTHS[i], b->traces, &s[i]) == SX_OK &&
               run_ours(&s[i], b->traces, b->traces) > 0;
    }
    for (int round = 0; good && round < b->rounds; round++) {
        int first = 0;
        for (int i = 0; good && i < FIT_LENGTH_COUNT; i++) {
            first = FIT_LENGTHS[i].uneven == FIT_LENGTHS[first].uneven ? first : i;
            us[i][round] = 1e6 * run_ours(&s[i], b->traces, b->traces);
            good = us[i][round] > 0;
            relative[i][round] =
                us[i][round] / FIT_LENGTHS[i].nt / (us[first][round] / FIT_LENGTHS[first].nt);
        }
    }
    for (int i = 0; i < FIT_LENGTH_COUNT && i < MOST; i++) {
        if (good) {
            print_length(b, &s[i], line_spread_of(b->rounds, us[i]).median,
                         line_spread_of(b->rounds, relative[i]));
        }
        session_close(&s[i]);
    }
    return good ? 0 : complain("lengths");
}

/* --- pixels --------------------------------------------------------------------------------- */

static double peak_memory_mb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Tile after tile in the same room, as a stream; only the fits are timed. */
static int many_tiles(const bench *b, const fit_case *c) {
    session s;
    double seconds = 0, before = 0;
    bool good = session_open(b, c, TILE, &s) == SX_OK;
    for (int64_t p = 0; good && p < b->many; p += TILE) {
        fit_data_fill(p, p + TILE > b->many ? b->many - p : TILE, &s.data);
        const double begin = line_processor_seconds();
        good = fit_data_run(&s.data, s.plan, 0, s.data.count, NULL, s.fit) == SX_OK;
        seconds += line_processor_seconds() - begin;
        before = p == 0 ? peak_memory_mb() : before;
    }
    if (good) {
        const double grown = peak_memory_mb() - before;
        line_begin("fit pixels", c->name);
        print_time(&s, "sextant", b->many, seconds / (double)b->many, b);
        printf(
            ", \"at_a_time\": %d, \"memory_grown_mb\": %.2f, \"goal\": \"memory_grown_mb <= 1\", "
            "\"met\": %s",
            TILE, grown, grown <= 1 ? "true" : "false");
        line_end();
    }
    session_close(&s);
    return good ? 0 : complain(c->name);
}

static int pixels_case(const bench *b, const fit_case *c) {
    enum { SIZES = 5 };
    static const int64_t AT_A_TIME[SIZES] = {1, 10, 100, 1000, 10000};
    static double us[SIZES][MOST_ROUNDS], relative[SIZES][MOST_ROUNDS];
    session s;
    bool good = session_open(b, c, AT_A_TIME[SIZES - 1], &s) == SX_OK;
    good = good && run_ours(&s, s.data.count, s.data.count) > 0;
    for (int round = 0; good && round < b->rounds; round++) {
        for (int i = 0; good && i < SIZES; i++) { /* calls for one pixel: of fewer traces */
            const int64_t traces = AT_A_TIME[i] < 1000 ? 1000 : AT_A_TIME[i];
            us[i][round] = 1e6 * run_ours(&s, traces, AT_A_TIME[i]);
            good = us[i][round] > 0;
        }
        for (int i = 0; i < SIZES; i++) {
            relative[i][round] = us[i][round] / us[SIZES - 1][round];
        }
    }
    for (int i = 0; good && i < SIZES; i++) {
        const line_spread r = line_spread_of(b->rounds, relative[i]);
        const double median = line_spread_of(b->rounds, us[i]).median;
        line_begin("fit pixels", c->name);
        print_time(&s, "sextant", s.data.count, 1e-6 * median, b);
        printf(", \"at_a_time\": %lld, \"us_per_call\": %.2f, \"per_fit_over_10000\": %.3f, "
               "\"least\": %.3f, \"most\": %.3f",
               (long long)AT_A_TIME[i], median * (double)AT_A_TIME[i], r.median, r.least, r.most);
        line_end();
    }
    session_close(&s);
    return good ? many_tiles(b, c) : complain(c->name);
}

static int pixels(const bench *b) {
    int failed = 0;
    for (int i = 0; i < FIT_CASE_COUNT && !failed; i++) {
        const fit_case *c = &FIT_CASES[i];
        failed = c->peers && c->modes == 1 && matches(b, c->name) ? pixels_case(b, c) : 0;
    }
    return failed;
}

/* --- threads -------------------------------------------------------------------------------- */

/* Wall seconds of every trace fitted once by so many threads, each its own part; negative on
 * failure. */
static double run_threads(session *s, int threads) {
    const int64_t part = s->data.count / threads;
    int failures = 0;
    const double begin = line_wall_seconds();
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : failures)
    for (int i = 0; i < threads; i++) {
        failures +=
            fit_data_run(&s->data, s->plan, i * part, part, NULL, s->fit + i * part) != SX_OK;
    }
    return failures ? -1 : line_wall_seconds() - begin;
}

static int threads_case(const bench *b, const fit_case *c) {
    static double one[MOST_ROUNDS], ratio[MOST_ROUNDS];
    session s;
    bool good = session_open(b, c, 4 * TILE, &s) == SX_OK && run_threads(&s, 2) > 0;
    for (int round = 0; good && round < b->rounds; round++) {
        one[round] = run_threads(&s, 1);
        const double two = run_threads(&s, 2);
        good = one[round] > 0 && two > 0;
        ratio[round] = one[round] / two;
    }
    if (good) {
        const line_spread r = line_spread_of(b->rounds, ratio);
        line_begin("fit threads", c->name);
        print_time(&s, "sextant", s.data.count,
                   line_spread_of(b->rounds, one).median / (double)s.data.count, b);
        printf(", \"two_threads_over_one\": %.3f, \"least\": %.3f, \"most\": %.3f, \"goal\": "
               "\"two_threads_over_one >= 1.8\", \"met\": %s",
               r.median, r.least, r.most, r.median >= 1.8 ? "true" : "false");
        line_end();
    }
    session_close(&s);
    return good ? 0 : complain(c->name);
}

static int threads(const bench *b) {
    int failed = 0;
    for (int i = 0; i < FIT_CASE_COUNT && !failed; i++) {
        const fit_case *c = &FIT_CASES[i];
        failed = c->peers && c->modes == 1 && matches(b, c->name) ? threads_case(b, c) : 0;
    }
    return failed;
}

/* -------------------------------------------------------------------------------------------- */

static int usage(void) {
    fputs("bench_fit: expected [-r rounds] [-n traces] [-s seed] [-c word] [-m traces] [-o] [-p "
          "folder] "
          "compare|lengths|pixels|threads\n",
          stderr);
    return 2;
}

int main(int count, char **words) {
    static const struct {
        const char *name;
        int (*run)(const bench *);
    } SECTIONS[] = {
        {"compare", compare}, {"lengths", lengths}, {"pixels", pixels}, {"threads", threads}};
    bench b = {.rounds = 5, .traces = 4000, .many = 100000, .seed = 4004, .word = ""};
    for (int option; (option = getopt(count, words, "r:n:s:c:m:op:")) != -1;) {
        switch (option) {
        case 'r':
            b.rounds = atoi(optarg);
            break;
        case 'n':
            b.traces = atoll(optarg);
            break;
        case 's':
            b.seed = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            b.word = optarg;
            break;
        case 'm':
            b.many = atoll(optarg);
            break;
        case 'o':
            b.alone = true;
            break;
        case 'p':
            b.folder = optarg;
            break;
        default:
            return usage();
        }
    }
    if (optind != count - 1 || b.rounds < 1 || b.rounds > MOST_ROUNDS || b.traces < 1 ||
        b.traces > 1000000 || b.many < 1) {
        return usage();
    }
    if (b.folder) {
        b.from_python = fdopen(3, "r");
        b.to_python = fdopen(4, "w");
    }
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++) {
        if (strcmp(SECTIONS[i].name, words[optind]) == 0) {
            return SECTIONS[i].run(&b);
        }
    }
    return usage();
}
