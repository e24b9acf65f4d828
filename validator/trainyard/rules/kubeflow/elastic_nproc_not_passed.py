"""`spec.nprocPerNode` of an elastic job without a Master reaches no pod, so torchrun starts one process in each.

The operator sets `PET_NPROC_PER_NODE` from `spec.nprocPerNode` in jobs that have a Master. An elastic job has Workers
alone, and gets the variables of `elasticPolicy` only: there the number has the name `nProcPerNode`. The webhook calls
this field deprecated, in a warning, and still accepts it. Without it all GPUs of a pod but one stay idle.

The rule leaves out containers that set the number themselves, in the command or in `PET_NPROC_PER_NODE`.

Write `elasticPolicy.nProcPerNode` in place of `nprocPerNode`, or `--nproc-per-node` in the command.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Run

_VARIABLE = "PET_NPROC_PER_NODE"
_OPTIONS = ("--nproc-per-node", "--nproc_per_node")
_BY_GPUS = ("auto", "gpu")


@rule(
    code="KF052",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch: envvar.go (setPodEnv), elastic.go (Generate)",
        "github.com/kubeflow/trainer issue 1947",
    ),
    needs=("elasticPolicy",),
)
def elastic_nproc_not_passed(run: Run) -> Iterator[Problem]:
    """Report a number of processes that no pod gets."""
    told = run.spec.get("nprocPerNode")
    if run.kind != "PyTorchJob" or run.elastic is None or told is None or run.role("Master") is not None:
        return
    container = next((role.container for role in run.training_roles if role.container is not None), None)
    if run.elastic.get("nProcPerNode") is not None or container is None or not _lacks(container, str(told)):
        return
    yield Problem(
        run.at.child("spec", "nprocPerNode"),
        f"without a Master, the operator passes no nprocPerNode ({told}): torchrun starts one process in each pod",
        "write elasticPolicy.nProcPerNode, or `--nproc-per-node` in the command",
        related=((run.at.child("spec", "elasticPolicy").key(), "the policy"),),
    )


def _lacks(container: Container, told: str) -> bool:
    """True if a container needs the number and does not set it itself."""
    if told == "1" or (told in _BY_GPUS and container.gpus < 2) or container.setting(_VARIABLE) is not None:
        return False
    written = " ".join((*container.command, *container.args))
    if _VARIABLE in written or any(option in written for option in _OPTIONS):
        return False
    return not any(word.startswith(_OPTIONS) for command in container.commands for word in command.words)
