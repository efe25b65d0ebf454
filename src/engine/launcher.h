/* SPDX-License-Identifier: Apache-2.0
 * Who started this process, and how many like it. */
#ifndef SXI_LAUNCHER_H
#define SXI_LAUNCHER_H

#include <stdbool.h>

#include <sextant/status.h>

typedef struct sxi_launcher {
    const char *name; /* "mpirun", "srun", "none" */
    int rank;         /* 0 without one */
    int size;         /* 1 without one; 0: it does not say */
    bool mute;        /* several processes that have no way to find each other */
} sxi_launcher;

/* sxi_launcher_get - by the environment. SLURM_PROCID alone means nothing: batch scripts have it. */
void sxi_launcher_get(sxi_launcher *launcher);

/* sxi_launcher_alone - SX_ERR_UNSUPPORTED if there are several of this process: for what knows
 * nothing of ranks, as each would do the whole work and write the same file. */
sx_status sxi_launcher_alone(const char *what);

#endif
