/* SPDX-License-Identifier: Apache-2.0
 * Theories: published integrals, closed forms, and gradients against differences. */
#include <string.h>

#include <sextant/sagips.h>

#include "base/rng.h"
#include "sx_check.h"

static void truth_of(const sx_theory *theory, double *p) {
    for (int j = 0; j < theory->parameters; j++) {
        p[j] = theory->parameter[j].truth;
    }
}

/* Integrals of the published test problem; its own code has left sums, 3.27857 and 1.87895. */
START_TEST(proxy1d_norms) {
    const sx_theory *theory;
    double p[SX_THEORY_PARAMETERS], norms[SX_THEORY_CHANNELS];
    ck_ok(sx_theory_find("proxy1d", &theory));
    truth_of(theory, p);
    ck_ok(sx_theory_norms(theory, p, norms, NULL));
    ck_near(norms[0], 3.26846, 0, 5e-6);
    ck_near(norms[1], 1.87259, 0, 5e-6);
}
END_TEST

/* Whole powers: 4 u + d with u = x (1 - x)^2, d = 0. */
START_TEST(closed_form) {
    const sx_theory *theory;
    const double p[] = {1, 1, 2, 0, 0, 0};
    double norms[SX_THEORY_CHANNELS];
    ck_ok(sx_theory_find("proxy1d", &theory));
    ck_ok(sx_theory_norms(theory, p, norms, NULL));
    const double at = 0.1 * 0.1 / 2 - 2 * 0.1 * 0.1 * 0.1 / 3 + 0.1 * 0.1 * 0.1 * 0.1 / 4;
    ck_near(norms[0], 4 * (1.0 / 12 - at), 1e-12, 0);
    ck_near(norms[1], 1.0 / 12 - at, 1e-12, 0);
}
END_TEST

START_TEST(lifetime_is_normalised) {
    const sx_theory *theory;
    const double p[] = {0.3, 0.6};
    double norm, slope[2];
    ck_ok(sx_theory_find("lifetime", &theory));
    ck_ok(sx_theory_norms(theory, p, &norm, slope));
    ck_near(norm, 1, 1e-10, 0);
    ck_near(slope[0], 0, 0, 1e-9);
    ck_near(slope[1], 0, 0, 1e-9);
}
END_TEST

/* Central differences err by h^2 / 6 of the third derivative: below 1e-6 for h = 1e-5. */
static void check_gradient(const sx_theory *theory, int channel, uint64_t seed) {
    double p[SX_THEORY_PARAMETERS], x[SX_THEORY_DIMENSIONS], value, gradient[SX_THEORY_PARAMETERS];
    int column = 0;
    for (int k = 0; k < channel; k++) {
        column += theory->channel[k].dimensions;
    }
    for (int d = 0; d < theory->channel[channel].dimensions; d++) {
        const sx_observable *o = theory->observable + column + d;
        x[d] = o->low + (o->high - o->low) * (0.05 + 0.9 * sxi_rng_uniform(seed, 1, (uint64_t)d));
    }
    for (int j = 0; j < theory->parameters; j++) {
        const sx_parameter *about = theory->parameter + j;
        p[j] = about->least +
               (about->most - about->least) * (0.1 + 0.8 * sxi_rng_uniform(seed, 2, (uint64_t)j));
    }
    theory->density(p, channel, 1, x, &value, gradient);
    for (int j = 0; j < theory->parameters; j++) {
        double up, down, moved[SX_THEORY_PARAMETERS];
        memcpy(moved, p, sizeof p);
        moved[j] = p[j] + 1e-5;
        theory->density(moved, channel, 1, x, &up, NULL);
        moved[j] = p[j] - 1e-5;
        theory->density(moved, channel, 1, x, &down, NULL);
        ck_near(gradient[j], (up - down) / 2e-5, 1e-6, 1e-6 * value);
    }
}

START_TEST(gradients) {
    for (int i = 0; i < sx_theory_count(); i++) {
        for (int k = 0; k < sx_theory_at(i)->channels; k++) {
            for (uint64_t seed = 1; seed <= 20; seed++) {
                check_gradient(sx_theory_at(i), k, seed);
            }
        }
    }
}
END_TEST

START_TEST(unknown) {
    const sx_theory *theory;
    ck_fails(sx_theory_find("proxy3d", &theory), SX_ERR_MISSING, "proxy1d, proxy2d, lifetime");
}
END_TEST

SX_TEST_MAIN("theory", proxy1d_norms, closed_form, lifetime_is_normalised, gradients, unknown)
