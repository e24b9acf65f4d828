#!/bin/bash
set -e
cd /work
python3.6 imagenet_trainer.py --resnext_num_groups 32 --resnext_width_per_group 4 --num_layers 101 --train_data null --batch_size 256 --epoch_size 25600 --num_epochs 2 -- # <- here
num_gpus 8 # <- here
