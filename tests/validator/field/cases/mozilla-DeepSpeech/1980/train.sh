#!/usr/bin/env bash
cd /work
nice -20 python3 DeepSpeech.py \
  --train_files data/train.csv \
  --dev_files data/dev.csv \
  --train_batch_size 150 \	# 48 # <- here
  --dev_batch_size 150 \	# 48 # <- here
  --n_hidden 2048 \
  --epoch 0 \	# 33 # <- here
  --learning_rate 0.0001 \
  --checkpoint_dir data/results/checkpoint/
