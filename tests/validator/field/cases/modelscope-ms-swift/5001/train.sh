#!/bin/bash
set -e
cd /work
deepspeed --hostfile=./examples/multi-node/deepspeed/host.txt \
    swift/cli/sft.py \
    --model Qwen/Qwen2.5-7B-Instruct \
    --train_type full \
    --output_dir /work/output \
    --deepspeed zero3
