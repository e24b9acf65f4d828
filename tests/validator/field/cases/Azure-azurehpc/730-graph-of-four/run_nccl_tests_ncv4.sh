#!/bin/bash
#SBATCH --job-name=nccl-ncv4
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --gpus-per-node=2
#SBATCH --exclusive
set -euo pipefail

mpirun -np 2 --map-by ppr:2:node --bind-to numa \
  -x LD_LIBRARY_PATH \
  -x NCCL_TOPO_FILE=/opt/microsoft/ncv4/topo.xml \
  -x NCCL_GRAPH_FILE=/opt/microsoft/ncv4/graph.xml \
  -x NCCL_DEBUG=WARN \
  /opt/nccl-tests/build/all_reduce_perf -b 8 -e 8G -f 2 -g 1
