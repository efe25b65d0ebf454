/* SPDX-License-Identifier: Apache-2.0
 * The traces that fits are measured on. Every number is a function of (seed, case, trace), so any
 * part of a case can be made anew, in any order.
 *
 * One mode: f 0.5 to 5 THz, g 0.1 to 2 per ps, any phase, A 0.1 to 10 (even in its logarithm),
 * offset normal with deviation A, A over noise 2 to 50 (even in its logarithm). A second mode: two
 * thirds as high, at least 0.3 THz away, A over noise 5 to 50. Delays every 0.05 ps, or random, half
 * of them in the first 30 % of the span; the same for all traces. */
#ifndef FIT_CASE_H
#define FIT_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include <sextant/dcos.h>

enum { FIT_MOST_SAMPLES = 1000, FIT_MOST_MODES = 2, FIT_MOST_PARAMETERS = 1 + 4 * FIT_MOST_MODES };

/* What is known of the noise. */
typedef enum fit_noise {
    FIT_UNKNOWN,
    FIT_OWN,       /* sigma of every sample, no two traces alike */
    FIT_SEPARABLE, /* sigma = a(trace) b(delay), rounded to float as files have it */
    FIT_WEIGHTS    /* relative weights of the delays, the same for all traces */
} fit_noise;

typedef enum fit_gaps {
    FIT_COMPLETE,
    FIT_SAME_GAPS, /* one delay in twenty missing from all traces */
    FIT_OWN_GAPS   /* one sample in twenty missing, each trace its own */
} fit_gaps;

typedef struct fit_case {
    const char *name;
    int nt;
    int modes;   /* of the truth */
    bool uneven; /* delays */
    fit_noise noise;
    fit_gaps gaps;
    bool automatic;    /* else exactly so many modes are demanded */
    bool warm;         /* started 1 % in f and 5 % in g off the truth */
    bool peers;        /* others fit it too */
    double goal;       /* fits/s of one core; 0: none */
    double goal_ratio; /* time of SciPy with analytic Jacobian over ours; 0: none */
} fit_case;

/* A part of a case, as many traces as there is room for. */
typedef struct fit_data {
    const fit_case *c;
    uint64_t seed;
    int64_t most, count;
    double t[FIT_MOST_SAMPLES], weight[FIT_MOST_SAMPLES];
    double *y, *sigma;          /* [count][nt] */
    sx_dcos_fit *truth, *start; /* [count] start: of warm cases */
} fit_data;

/* What is compared, and what shows how time grows with the number of delays. */
extern const fit_case FIT_CASES[], FIT_LENGTHS[];
extern const int FIT_CASE_COUNT, FIT_LENGTH_COUNT;

/* fit_data_create - room for most traces; false: no memory. */
bool fit_data_create(const fit_case *c, uint64_t seed, int64_t most, fit_data *data);
void fit_data_destroy(fit_data *data);

/* fit_data_fill - traces first .. first + count - 1. */
void fit_data_fill(int64_t first, int64_t count, fit_data *data);

/* fit_data_plan, fit_data_run - ours, as a caller has to. */
sx_status fit_data_plan(const fit_data *data, sx_dcos_plan **plan);
sx_status fit_data_run(const fit_data *data, const sx_dcos_plan *plan, int64_t first, int64_t count,
                       const sx_dcos_fit *start, sx_dcos_fit *fit);

/* fit_data_chi2 - sum of squares of trace p, each over sigma^2 (times the weight) if there are
 * such: the one measure that all fits are judged by. */
double fit_data_chi2(const fit_data *data, int64_t p, const sx_dcos_fit *fit);

#endif
