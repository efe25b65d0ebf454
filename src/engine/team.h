/* SPDX-License-Identifier: Apache-2.0
 * The threads of a rank at work on a task: they take tiles of a band; who finds none left begins to
 * read the next band, helps to read it, and goes on with it while others finish the one before. */
#ifndef SXI_TEAM_H
#define SXI_TEAM_H

#include "engine/journal.h"
#include "engine/tile.h"

/* What came out, on this rank. */
typedef struct sxi_team_result {
    int64_t computed, failed;
    int64_t first_failed; /* INT64_MAX: none */
    char sentence[SXI_REASON];
    double busy, waiting, reading;
    int64_t bands; /* that this rank took */
    int64_t *band; /* [bands], to be freed */
} sxi_team_result;

/* sxi_team_run - all bands that this rank gets. What stops it has been told to the other ranks.
 *
 * in   journal  or NULL; tiles it holds are not computed */
sx_status sxi_team_run(const sxi_plan *plan, sxi_journal *journal, sxi_team_result *result);

#endif
