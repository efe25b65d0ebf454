/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/launcher.h"

#include <string.h>

#include "sx_check.h"

static const char *const names[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK", "PMI_SIZE",
    "SLURM_STEP_NUM_TASKS", "SLURM_PROCID",         "SLURM_NTASKS",
};
enum { NAMES = sizeof names / sizeof *names };

/* What the launcher is taken for with these variables, in the order of names; NULL: not set. */
static sxi_launcher with(const char *const values[NAMES]) {
    sxi_launcher launcher;
    for (int i = 0; i < NAMES; i++) {
        if (values[i]) {
            setenv(names[i], values[i], 1);
        } else {
            unsetenv(names[i]);
        }
    }
    sxi_launcher_get(&launcher);
    return launcher;
}

START_TEST(launchers_show_by_their_variables) {
    static const struct {
        const char *values[NAMES], *name;
        int rank, size;
        bool mute;
    } cases[] = {
        {{NULL}, "none", 0, 1, false},
        /* mpirun of Open MPI, alone and within a batch script of Slurm */
        {{"4", "2", "2"}, "mpirun", 2, 4, false},
        {{"4", "3", "3", NULL, NULL, NULL, "0", "8"}, "mpirun", 3, 4, false},
        {{"1", "0", "0"}, "mpirun", 0, 1, false},
        /* mpiexec of MPICH */
        {{NULL, NULL, NULL, "1", "3"}, "mpirun", 1, 3, false},
        /* PMIx of a launcher that does not say how many there are */
        {{NULL, NULL, "5"}, "mpirun", 5, 0, false},
        /* srun --mpi=pmix, --mpi=pmi2, --mpi=none, and of one task */
        {{NULL, NULL, "2", NULL, NULL, "6", "2", "6"}, "srun", 2, 6, false},
        {{NULL, NULL, NULL, "2", "6", "6", "2", "6"}, "srun", 2, 6, false},
        {{NULL, NULL, NULL, NULL, NULL, "6", "2", "6"}, "srun", 2, 6, true},
        {{NULL, NULL, NULL, NULL, NULL, "1", "0", "1"}, "none", 0, 1, false},
        /* a batch script, and variables that hold nothing */
        {{NULL, NULL, NULL, NULL, NULL, NULL, "0", "6"}, "none", 0, 1, false},
        {{"", "x", "", "-1", "3x", "99999999999"}, "none", 0, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sxi_launcher found = with(cases[i].values);
        ck_assert_msg(strcmp(found.name, cases[i].name) == 0 && found.rank == cases[i].rank &&
                          found.size == cases[i].size && found.mute == cases[i].mute,
                      "case %zu: %s, rank %d of %d, %s", i, found.name, found.rank, found.size,
                      found.mute ? "mute" : "not mute");
    }
}
END_TEST

SX_TEST_MAIN("launcher", launchers_show_by_their_variables)
