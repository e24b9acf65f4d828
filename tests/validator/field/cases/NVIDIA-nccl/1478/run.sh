#!/bin/bash
set -e
ulimit -n 100000
local_rank=$((OMPI_COMM_WORLD_LOCAL_RANK % 4))
case $local_rank in
0)
  export NCCL_IB_HCA=mlx5_0:1
  exec numactl --cpunodebind=0 --membind=0 "$@"
  ;;
1)
  export NCCL_IB_HCA=mlx5_1:1
  exec numactl --cpunodebind=1 --membind=1 "$@"
  ;;
2)
  export NCCL_IB_HCA=mlx5_2:1
  exec numactl --cpunodebind=2 --membind=2 "$@"
  ;;
3)
  export NCCL_IB_HCA=mlx5_3:1
  exec numactl --cpunodebind=3 --membind=3 "$@"
  ;;
esac
