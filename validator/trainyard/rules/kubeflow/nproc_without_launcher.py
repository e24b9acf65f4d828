"""`nprocPerNode` has no effect, because the container starts Python without a launcher.

The operator passes the number on as `PET_NPROC_PER_NODE`, which torchrun reads. `python train.py` is one process: it
trains on one GPU, and the others that the container requests are idle.

The rule applies to containers with several GPUs whose command is Python with a script.

Start the script with `torchrun`, or request one GPU.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import BY_NAME, launcher_in
from trainyard.model.run import Role


@rule(
    code="KF043",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/envvar.go: PET_NPROC_PER_NODE",
        "github.com/kubeflow/trainer issue 1992",
    ),
    needs=("nprocPerNode",),
)
def nproc_without_launcher(role: Role, context: Context) -> Iterator[Problem]:
    """Report one process for several GPUs."""
    container, run = role.container, context.run
    if container is None or run is None or run.kind != "PyTorchJob" or container.gpus < 2:
        return
    told = run.spec.get("nprocPerNode")
    if told is None or str(told) in ("1", "cpu") or len(container.commands) != 1:
        return
    command = container.commands[0]
    if not command.program.startswith("python"):
        return
    script = next((word for word in command.words[1:] if not word.startswith("-")), "")
    if not script.endswith(".py") or launcher_in(command.words):
        return
    written = " ".join((*container.command, *container.args))
    if any(name in written for name in BY_NAME):
        return
    yield Problem(
        command.at,
        f"nprocPerNode is for torchrun: `{command.program} {script}` is one process for {container.gpus} GPUs",
        "start the script with `torchrun`",
        related=((run.at.child("spec", "nprocPerNode"), "the number of processes"),),
    )
