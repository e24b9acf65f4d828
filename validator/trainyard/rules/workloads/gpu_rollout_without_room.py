"""An update of the Deployment starts a second pod on the same node, which waits for GPUs that the first one holds.

A Deployment rolls by default: with `maxSurge: 25%`, rounded up, it starts a new pod before it stops an old one, and
with `maxUnavailable: 25%`, rounded down, it stops none of fewer than four before the new one is ready. A Deployment
whose pods are bound to one node therefore needs free GPUs of that node. Without them the new pod stays `Pending`, the
old one goes on, and the update ends with `ProgressDeadlineExceeded`.

The rule applies to pods with GPUs that a host name binds to one node, by `nodeName`, a node selector or an affinity.

Write `strategy: {type: Recreate}`, or `maxSurge: 0` and `maxUnavailable: 1`. The server is away while it restarts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.launchers.model_servers import whole_gpus
from trainyard.analysis.pods.placement import is_on_one_node
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Workload


@rule(
    code="WL020",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/apps/v1/defaults.go: SetDefaults_Deployment; deployment/util: ResolveFenceposts",
        "github.com/defilantech/LLMKube issue 192, github.com/bayesimpact/bayes-platform pull 776",
    ),
    needs=("kind: Deployment", '"Deployment"'),
)
def gpu_rollout_without_room(run: Workload) -> Iterator[Problem]:
    """Report Deployments of GPUs that roll on one node."""
    role = run.roles[0] if run.kind == "Deployment" and run.roles else None
    if role is None or (role.replicas or 1) > 3:
        return
    held = [found for container in role.pod.containers if (found := whole_gpus(container)) is not None]
    if not held or not is_on_one_node(role.pod) or not _surges(run.spec):
        return
    need = f"{held[0][1]} {held[0][0]}"
    yield Problem(
        run.at.child("spec").key(),
        f"an update starts the new pod before it stops the old one, and each needs {need} of the one node",
        "write `strategy: {type: Recreate}`, or `maxSurge: 0` with `maxUnavailable: 1`",
        related=((role.pod.at.key(), "the pods, which are bound to one node"),),
    )


def _surges(spec: dict[str, Any]) -> bool:
    strategy = mapping(spec, "strategy")
    if text(strategy, "type") not in ("", "RollingUpdate"):
        return False
    rolling = mapping(strategy, "rollingUpdate")
    return str(rolling.get("maxSurge", "25%")) not in ("0", "0%") and str(rolling.get("maxUnavailable", "25%")) in (
        "0",
        "0%",
        "25%",
    )
