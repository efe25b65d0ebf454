/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "base/fail.h"

/* otherwise: there is no such variable, or it holds no count. */
static int number(const char *variable, int otherwise) {
    const char *text = getenv(variable);
    char *end = NULL;
    errno = 0;
    const long value = text ? strtol(text, &end, 10) : -1;
    return text && end != text && !*end && errno == 0 && value >= 0 && value <= INT_MAX ? (int)value
                                                                                        : otherwise;
}

void sxi_launcher_get(sxi_launcher *launcher) {
    const int open_mpi = number("OMPI_COMM_WORLD_SIZE", 0);
    const int pmix = number("PMIX_RANK", -1), pmi = number("PMI_RANK", -1);
    /* Set for the processes of a step, not for a batch script, which knows only what a step of its
     * own would be. */
    const int step = number("SLURM_STEP_NUM_TASKS", 0);
    const char *name = step > 0 ? "srun" : "mpirun";
    *launcher = (sxi_launcher){.name = "none", .size = 1};
    if (open_mpi > 0) {
        *launcher = (sxi_launcher){name, number("OMPI_COMM_WORLD_RANK", 0), open_mpi, false};
    } else if (pmix >= 0) {
        *launcher = (sxi_launcher){name, pmix, step, false};
    } else if (pmi >= 0) {
        *launcher = (sxi_launcher){name, pmi, number("PMI_SIZE", step), false};
    } else if (step > 1) {
        *launcher = (sxi_launcher){name, number("SLURM_PROCID", 0), step, true};
    }
}

sx_status sxi_launcher_alone(const char *what) {
    sxi_launcher launcher;
    sxi_launcher_get(&launcher);
    if (launcher.size > 1) {
        return SXI_FAIL(SX_ERR_UNSUPPORTED,
                        "%s started %d processes, and %s works as one: start it without %s, "
                        "--threads sets how many cores it uses",
                        launcher.name, launcher.size, what, launcher.name);
    }
    return SX_OK;
}
