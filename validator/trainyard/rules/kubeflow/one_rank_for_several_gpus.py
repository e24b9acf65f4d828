"""Each pod of the PyTorchJob starts Python without a launcher, so one GPU works in each and the others are idle.

The operator sets `RANK` and `WORLD_SIZE` for pods, not for GPUs. `python train.py` is one process with one rank, which
takes the first GPU. A job of two pods with 8 GPUs each trains on two.

The rule looks at jobs of several pods whose command is one script of Python. It ignores scripts with an option that
tells them to start processes, and those with `nprocPerNode`, which has a rule of its own.

Start the script with `torchrun`, or request one GPU for each pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.one_rank import script_of_one_rank
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role


@rule(
    code="KF052",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: WORLD_SIZE is the number of pods "
        "without nprocPerNode",
        "github.com/kubeflow/trainer issues 1872 and 1713, github.com/kubeflow/pytorch-operator issue 362",
    ),
    needs=("PyTorchJob",),
)
def one_rank_for_several_gpus(role: Role, context: Context) -> Iterator[Problem]:
    """Report pods with one process for several GPUs."""
    container, run = role.container, context.run
    if container is None or run is None or run.kind != "PyTorchJob" or container.gpus < 2 or (run.nodes or 0) < 2:
        return
    if run.spec.get("nprocPerNode") is not None or len(container.commands) != 1 or run.elastic:
        return
    command = container.commands[0]
    script = script_of_one_rank(container)
    if not script:
        return
    yield Problem(
        command.at,
        f"each pod is one rank: `{command.program} {script}` is one process for {container.gpus} GPUs",
        "start the script with `torchrun --nproc-per-node=gpu`",
    )
