"""Programs that start the processes of a training run.

Source: pytorch torch/distributed/run.py and launch.py; Open MPI 5.0 (`mpirun`, `mpiexec` and `orterun` are links to
`prterun`) and 4.1; deepspeedai/DeepSpeed bin/deepspeed; huggingface/accelerate commands/launch.py; horovod/horovod
runner/launch.py.
"""

from __future__ import annotations

TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch")
MPI_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")
# They use every GPU by default; torchrun starts a single process.
GREEDY_LAUNCHERS = ("deepspeed", "accelerate")
LAUNCHERS = ("torchrun", *TORCHRUN_MODULES, *GREEDY_LAUNCHERS, *MPI_LAUNCHERS, "horovodrun")
