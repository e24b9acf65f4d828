#!/bin/bash
set -e

workspace=$(pwd)
model_name_or_path=iic/speech_paraformer-large
train_data=${workspace}/data/train.jsonl
output_dir=${workspace}/outputs

deepspeed_config=${workspace}/../../ds_stage1.json

torchrun --nnodes=1 --nproc_per_node=8 --standalone \
  ../../funasr/bin/train_ds.py \
  ++model="${model_name_or_path}" \
  ++train_data_set_list="${train_data}" \
  ++train_conf.use_deepspeed=true \
  ++train_conf.deepspeed_config=${deepspeed_config} \
  ++output_dir="${output_dir}"
