"""The StatefulSet starts its pods one after another, while the ranks in them have to run together.

The default `podManagementPolicy: OrderedReady` creates a pod when all before it are ready. Each pod waits for its node,
its image and its probe in turn, and the first ones hold their GPUs meanwhile. If the readiness probe passes only after
all ranks have met, the second pod is never created.

The rule looks at StatefulSets whose pods start a launcher or a model server over several nodes.

Write `podManagementPolicy: Parallel`. The field cannot be changed: delete the StatefulSet first.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Add
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Role

KIND = "StatefulSet"
FIELD = "podManagementPolicy"
_NODES = ("--nnodes", "--num-machines", "--num-nodes")
_RANK = ("--node-rank", "--machine-rank", "--rdzv-endpoint", "--dist-init-addr", "--master-addr", "--main-process-ip")


@rule(
    code="WL030",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/workloads/controllers/statefulset: pod management policies",
        "github.com/PrimeIntellect-ai/prime-rl pull 1718",
    ),
    fix="unsafe",
    needs=(KIND,),
)
def ranks_start_in_order(role: Role, context: Context) -> Iterator[Problem]:
    """Report StatefulSets of ranks that start in order."""
    run = context.run
    if run is None or run.kind != KIND or (role.replicas or 0) < 2 or text(run.spec, FIELD) not in ("", "OrderedReady"):
        return
    if any(_is_spread(command) for container in role.pod.containers for command in container.commands):
        at = run.at.child("spec")
        yield Problem(
            at.key(),
            f"the {role.replicas} pods start one after another, and their ranks wait for each other",
            f"write `{FIELD}: Parallel`",
            (Add(at, FIELD, "Parallel"),) if FIELD not in run.spec else (),
        )


def _is_spread(command: Command) -> bool:
    """True if the command is one of several that start together."""
    nodes = command.option(*_NODES)
    return nodes is not None and nodes not in ("1", "1:1") and command.has(*_RANK)
