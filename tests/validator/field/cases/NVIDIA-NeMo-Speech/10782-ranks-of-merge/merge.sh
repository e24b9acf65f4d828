#!/bin/bash
# Merges the weights of LoRA into the base model.
set -euo pipefail

export HYDRA_FULL_ERROR=1
python /opt/NeMo/scripts/nlp_language_modeling/merge_lora_weights/merge.py \
    trainer.accelerator=gpu \
    trainer.devices=1 \
    trainer.num_nodes=1 \
    tensor_model_parallel_size=4 \
    pipeline_model_parallel_size=1 \
    gpt_model_file=/data/mixtral.nemo \
    lora_model_path=/data/results/checkpoints/lora.nemo \
    merged_model_path=/data/mixtral-lora.nemo
