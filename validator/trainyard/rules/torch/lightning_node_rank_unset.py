"""Lightning does not know the rank of its pod, so every pod takes itself for the first node.

Without a launcher, Lightning starts the processes of its node itself, and reads the rank of the node from `NODE_RANK`
or `GROUP_RANK`. No operator sets these: a PyTorchJob has `RANK`, and an indexed Job `JOB_COMPLETION_INDEX`. Each pod
then counts its processes from rank 0, and they wait for the other nodes or take their place in the store. The
`KubeflowEnvironment` of Lightning reads `RANK`, but has one process in each pod.

The rule looks at programs that `python` starts in several pods, with `num_nodes` and several `devices` in the
arguments of the Trainer.

Start the program with torchrun, or set `NODE_RANK` to the index of the pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.lightning_commands import is_plain, lightning_sizes
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Container, Role

_VARIABLES = ("NODE_RANK", "GROUP_RANK", "LOCAL_RANK", "SLURM_NTASKS")
# What the operator of HyperPod sets is not known.
_UNKNOWN = (*RUNTIMES, "Pod", "HyperPodPyTorchJob")


@rule(
    code="TD074",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "Lightning 2.6.6 fabric/plugins/environments/lightning.py: node_rank, creates_processes_externally",
        "Lightning 2.6.6 fabric/plugins/environments/kubeflow.py: local_rank is 0, no detection",
        "github.com/Lightning-AI/pytorch-lightning issue 13374",
    ),
    needs=("trainer.",),
)
def lightning_node_rank_unset(role: Role, context: Context) -> Iterator[Problem]:
    """Report programs of Lightning in several pods without the rank of the node."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or not run.is_job or run.kind in _UNKNOWN:
        return
    if (run.nodes or 0) < 2 or has_unknown_variables(container, context) or _knows(container):
        return
    for command in container.commands:
        sizes = lightning_sizes(command) if is_plain(command) else None
        if sizes is not None and (sizes.nodes or 0) > 1 and (sizes.devices or 0) > 1:
            yield Problem(
                command.word_at[0],
                f"nothing tells Lightning the rank of its pod: each of the {run.nodes} pods starts its {sizes.devices} "
                "processes as node 0",
                "start it with torchrun, or set NODE_RANK to the index of the pod",
                related=((sizes.at, "the sizes"),),
            )


def _knows(container: Container) -> bool:
    return any(container.setting(name) is not None for name in _VARIABLES)
