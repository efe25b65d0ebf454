/* SPDX-License-Identifier: Apache-2.0
 * The model of many ranks (bench/scale_model.c) where its answers are known. */
#include "scale_model.h"

#include "sx_check.h"

static const scale_costs FREE = {0};

/* 128 bands of 10 tiles; all ranks have equally many. */
START_TEST(ranks_that_cost_nothing_share_the_work) {
    const scale_task task = {1280, 0.01, 1000, 32};
    for (int ranks = 1; ranks <= 4; ranks *= 2) {
        const scale_result r = scale_run(&FREE, &task, ranks);
        ck_assert_int_eq(r.bands, 32 * ranks);
        ck_near(r.seconds, 12.8 / ranks, 1e-12, 0);
        ck_near(r.claiming, 0, 0, 0);
    }
}
END_TEST

START_TEST(more_ranks_than_tiles_help_no_further) {
    const scale_task task = {100, 0.5, 0, 4};
    const double many = scale_run(&FREE, &task, 100).seconds;
    const double most = scale_run(&FREE, &task, 4096).seconds;
    /* A rank may have taken two bands of a tile before others have one. */
    ck_assert(many == 0.5 || many == 1.0);
    ck_assert(most == 0.5 || most == 1.0);
}
END_TEST

START_TEST(claims_queue_at_rank_0) {
    const scale_costs costs = {.service = 1e-3};
    const scale_task task = {1000, 1.0, 0, 1};
    const scale_result r = scale_run(&costs, &task, 1000);
    /* 999 ranks ask at once, and again as soon as they have an answer; the last first answer is behind
     * the others. */
    ck_near(r.computing, 1.0 + 2 * 998 * 1e-3, 2e-3, 0);
}
END_TEST

/* Two ranks, two bands each of 3 tiles: one message says which, then one comes for each. */
START_TEST(a_band_costs_its_bytes) {
    const scale_costs costs = {.message = 1, .long_message = 10, .byte = 0.5};
    const scale_task task = {12, 1, 4, 2};
    const scale_result r = scale_run(&costs, &task, 2);
    ck_near(r.computing, 6, 1e-12, 0);
    ck_near(r.gathering, 4 + 3 + 1 + 2 * (10 + 3 * 4 * 0.5), 1e-12, 0);
}
END_TEST

SX_TEST_MAIN("scale", ranks_that_cost_nothing_share_the_work, more_ranks_than_tiles_help_no_further,
             claims_queue_at_rank_0, a_band_costs_its_bytes)
