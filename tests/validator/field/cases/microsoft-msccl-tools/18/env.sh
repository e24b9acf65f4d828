#!/bin/sh
export NCCL_DEBUG=INFO
export NCCL_DEBUG_SUBSYS=INIT,ENV
export NCCL_ALGOS=MSCCL,RING,TREE
exec python train.py "$@"
