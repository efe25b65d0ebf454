/* SPDX-License-Identifier: Apache-2.0
 * The results of finished tiles in a file, so that a killed run goes on where it was. Theory:
 * docs/theory/engine.md, "The journal". */
#ifndef SXI_JOURNAL_H
#define SXI_JOURNAL_H

#include "engine/plan.h"

typedef struct sxi_journal sxi_journal;

/* sxi_journal_open - all ranks. Without resume it begins anew; an old one is kept and refused. With
 * resume what the journals of all ranks of the last run hold is put into the outputs (of rank 0),
 * and they are gone on with.
 *
 * out  journal  NULL on failure
 *
 * SX_ERR_EXISTS, SX_ERR_ARGUMENT (of another run), SX_ERR_FORMAT (damaged), SX_ERR_IO. */
sx_status sxi_journal_open(const sxi_plan *plan, sxi_journal **journal);

/* sxi_journal_has - whether a tile need not be computed. NULL: no. sxi_journal_resumed - how many. */
bool sxi_journal_has(const sxi_journal *journal, int64_t tile);
int64_t sxi_journal_resumed(const sxi_journal *journal);

/* sxi_journal_add - a finished tile, from its outputs; in the file with the next flush. Any thread. */
sx_status sxi_journal_add(sxi_journal *journal, int64_t tile);

/* sxi_journal_flush - what was added is on the disk when it returns; it need not be called often.
 * now: else at most ten times a second. One thread at a time. */
sx_status sxi_journal_flush(sxi_journal *journal, bool now);

/* sxi_journal_close - the file stays. NULL allowed. */
void sxi_journal_close(sxi_journal **journal);

#endif
