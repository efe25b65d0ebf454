# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Settings of Open MPI for tests: as root, on few cores. To be sourced.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMP_NUM_THREADS=1

# ranks N COMMAND...
ranks() { timeout 120 mpirun --oversubscribe --bind-to none -np "$@"; }

# has_mpi BUILD_FOLDER
has_mpi() { command -v mpirun >/dev/null && [ -e "$1/libsextant_mpi.so" ]; }
