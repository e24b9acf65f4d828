#!/bin/bash
#SBATCH --job-name=nccl-tests
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --exclusive
set -euo pipefail

IMAGE=/shared/images/nccl-tests.sqsh
RUN_DIR=/shared/runs/$SLURM_JOB_ID
mkdir -p "$RUN_DIR"

export NCCL_IB_GID_INDEX=3
export NCCL_SOCKET_IFNAME=eth0
export LD_LIBRARY_PATH=/usr/local/gib/lib64:/usr/local/cuda/lib64:/usr/lib/aarch64-linux-gnu

srun --mpi=pmix --container-image="$IMAGE" \
  --container-mounts="$RUN_DIR:$RUN_DIR" \
  /opt/nccl-tests/build/all_reduce_perf -b 8 -e 8G -f 2 -g 1
