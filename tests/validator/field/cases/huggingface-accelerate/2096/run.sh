#!/bin/bash
set -e
cd /work
torchrun --nproc_per_node 2 \
    --nnodes 2 # <- here
    --rdzv_id 2299 \
    --rdzv_backend c10d \
    --rdzv_endpoint node-0.cv:29500 \
    ./cv_example.py --data_dir /work/images
