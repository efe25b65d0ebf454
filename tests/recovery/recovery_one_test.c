/* SPDX-License-Identifier: Apache-2.0
 * Ten thousand pixels with one mode, on even and uneven delays: does the fit find the minimum, and
 * do its errors hold? */
#include "population.h"

enum { COUNT = 10000, T = 200 };

/* At least 99.5 % reach the chi2 of a fit started at the truth. Pulls at SNR above 10: an exact
 * minimiser started at the truth keeps their mean within 0.08 and their width within 0.06 of 1; at
 * lower SNR its own bias shows. An amplitude below 5 of its errors is a faint, short mode whose
 * likelihood is no Gaussian (docs/theory/dcos.md); all others may lie once in 1,000. */
static void recovers(const char *name, const population *p, const double *sigma) {
    static sx_dcos_fit fit[COUNT];
    sx_dcos_options options = {.fixed_modes = true, .modes = 1};
    sx_fit_traces(&options, p->nt, p->t, p->count, p->y, sigma, fit);
    score s = judge_fits(p, fit);
    score_print(name, p, &s);
    ck_assert_int_ge(s.reached, COUNT * 995 / 1000);
    ck_assert_int_le(s.lying, COUNT / 1000);
    ck_assert_int_le(s.unknown, COUNT / 1000);
    for (int j = 0; j < 5; j++) {
        ck_near(s.mean[j], 0, 0, 0.08);
        ck_near(s.width[j], 1, 0, 0.06);
    }
}

static void both(const char *name, uint64_t seed, bool uneven) {
    population p;
    population_create(T, COUNT, &p);
    if (uneven) {
        sx_uneven_delays(seed, T, p.t);
    }
    population_draw_modes(seed, 5, &p);
    population_fill(seed, &p);
    recovers(name, &p, p.sigma);
    recovers(name, &p, NULL);
    population_destroy(&p);
}

START_TEST(even_delays) { both("even", sx_seed(101), false); }
END_TEST

START_TEST(uneven_delays) { both("uneven", sx_seed(102), true); }
END_TEST

SX_TEST_MAIN("recovery_one", even_delays, uneven_delays)
