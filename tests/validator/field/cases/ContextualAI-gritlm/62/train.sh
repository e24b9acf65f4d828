#!/bin/bash
#SBATCH --job-name=gritlm
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:8
#SBATCH --exclusive
set -x -e
cd /data/gritlm

GPUS_PER_NODE=8
NNODES=$SLURM_NNODES
WORLD_SIZE=$((GPUS_PER_NODE * NNODES))
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=6000

export LAUNCHER="accelerate launch \
    --config_file config_8gpus_m7.yml \
    --num_machines $NNODES \
    --num_processes $WORLD_SIZE \
    --main_process_ip $MASTER_ADDR \
    --main_process_port $MASTER_PORT \
    --machine_rank $SLURM_PROCID \
    --role rank$SLURM_PROCID: \
    --tee 3"
export CMD="-m training.run --output_dir /data/out --model_name_or_path /data/mistral-7b --bf16"

srun --jobid $SLURM_JOBID bash -c "$LAUNCHER $CMD"
