/* SPDX-License-Identifier: Apache-2.0
 * Pixels of noise, ten thousand at T = 200: at most 1 % report a mode. */
#include "population.h"

enum { MOST = 10000 };

static void stays_silent(const char *name, const population *p) {
    static sx_dcos_fit fit[MOST];
    for (int given = 0; given < 2; given++) {
        int modes = 0;
        sx_fit_traces(NULL, p->nt, p->t, p->count, p->y, given ? p->sigma : NULL, fit);
        for (int64_t i = 0; i < p->count; i++) {
            modes += fit[i].modes > 0;
        }
        printf("%s, T %lld, sigma %s: %.2f %% report a mode\n", name, (long long)p->nt,
               given ? "given" : "unknown", 100.0 * modes / (double)p->count);
        ck_assert_int_le(modes, p->count / 100);
    }
}

static void noise(const char *name, uint64_t seed, int64_t nt, bool uneven) {
    population p;
    population_create(nt, nt == 200 ? MOST : MOST / 5, &p);
    if (uneven) {
        sx_uneven_delays(seed, nt, p.t);
    }
    population_fill(seed, &p);
    stays_silent(name, &p);
    population_destroy(&p);
}

START_TEST(even_delays) {
    uint64_t seed = sx_seed(301);
    const int64_t lengths[] = {200, 50, 20, 12};
    for (int i = 0; i < 4; i++) {
        noise("even", seed, lengths[i], false);
    }
}
END_TEST

START_TEST(uneven_delays) {
    uint64_t seed = sx_seed(302);
    noise("uneven", seed, 200, true);
    noise("uneven", seed, 30, true);
}
END_TEST

SX_TEST_MAIN("recovery_noise", even_delays, uneven_delays)
