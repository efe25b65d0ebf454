#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A fit on several nodes by Slurm: two processes of 16 threads on each of them.
#   sbatch examples/slurm/xani-fit.sh cube.h5 fit.h5
#
# When the time below is over, Slurm ends the job with SIGTERM, and kills it after a while. What is finished
# lies in fit.h5.journal* then: the same command goes on with it, on fewer or more nodes if you like, and
# gives the same values. --requeue does so by itself after a node has failed.
#SBATCH --job-name=xani-fit
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=16
#SBATCH --time=00:30:00
#SBATCH --requeue
set -euo pipefail
cube=${1:?name a cube}
fit=${2:?name the output}

# The folder of the output must be one that all nodes see. --mpi=pmix is what Open MPI speaks; "srun --mpi=list"
# says what there is. The thread that talks to the other processes needs no core of its own.
srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  sextant xani fit "$cube" -o "$fit" --resume --threads "$SLURM_CPUS_PER_TASK"
