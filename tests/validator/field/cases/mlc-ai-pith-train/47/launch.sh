#!/usr/bin/env bash
# Runs on every node: srun -N 2 --ntasks-per-node=1 launch.sh
set -euo pipefail

export NCCL_DEBUG=WARN
export OMP_NUM_THREADS=8

TORCHRUN_ARGS=()
TORCHRUN_ARGS+=(--nnodes=${SLURM_NNODES:-1} --node-rank=${SLURM_NODEID:-0} --nproc-per-node=gpu)
TORCHRUN_ARGS+=(--rdzv-backend=c10d --rdzv-endpoint=${SLURM_LAUNCH_NODE_IPADDR:-localhost}:15213)

torchrun "${TORCHRUN_ARGS[@]}" -m pithtrain.tasks.pretrain --config configs/qwen3.yaml
