"""The startup probe gives the server more time than the Deployment has, which then counts as failed.

A Deployment has `progressDeadlineSeconds`, 600 by default: the time in which an update must make the next pod ready.
A model that loads for longer is still starting then, and the Deployment says `ProgressDeadlineExceeded`. Kubernetes
goes on, but `kubectl rollout status` ends with an error, `helm upgrade --wait` and Flux roll back, and Argo CD shows
the application as degraded.

The rule applies to containers with GPUs, and to probes with more than twice the time of the deadline: a shorter time is
often a reserve that no start needs.

Write `progressDeadlineSeconds` above the time of the startup probe.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.patches import is_patch
from trainyard.document.lookup import integer, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Workload

_DEADLINE, _DEFAULT, _RESERVE = "progressDeadlineSeconds", 600, 2


@rule(
    code="WL038",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/controller/deployment/util/deployment_util.go: DeploymentTimedOut",
        "kubernetes v1.37.2 pkg/apis/apps/v1/defaults.go: SetDefaults_Deployment, 600 seconds",
        "github.com/Tanguille/cluster pull 3654",
    ),
    needs=("startupProbe",),
)
def startup_beyond_deadline(run: Workload) -> Iterator[Problem]:
    """Report startup probes that outlast the deadline of their Deployment."""
    if run.kind != "Deployment" or not run.api_version.startswith("apps/"):
        return
    written = integer(run.spec, _DEADLINE)
    deadline = _DEFAULT if written is None else written
    for container in (container for role in run.roles if not is_patch(role.pod) for container in role.pod.containers):
        seconds = _seconds(mapping(container.tree, "startupProbe"))
        if container.gpus and seconds > _RESERVE * deadline:
            yield Problem(
                container.at.child("startupProbe").key(),
                f"the startup probe gives the server {seconds} s, and the Deployment fails after {deadline} s without "
                f"progress{'' if written is not None else ', the default'}",
                f"write `{_DEADLINE}: {seconds + 60}`",
            )


def _seconds(probe: dict[str, Any]) -> int:
    """Returns the time until a startup probe gives up; 0 without one, or with a value of another type."""
    known = {"initialDelaySeconds": 0, "periodSeconds": 10, "failureThreshold": 3}
    if not probe or any(name in probe and integer(probe, name) is None for name in known):
        return 0
    delay, period, failures = (
        default if (value := integer(probe, name)) is None else value for name, default in known.items()
    )
    return delay + period * failures
