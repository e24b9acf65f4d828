"""The configuration of Kueue in the files: the kinds of jobs that it manages.

Source: kubernetes-sigs/kueue v0.19.2 apis/config/v1beta2/configuration_types.go, and the name of each framework in
pkg/controller/jobs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Project, Run

# Kinds of the core and of `apps` have names without a group.
_PLAIN = {("", "Pod"): "pod", ("apps", "Deployment"): "deployment", ("apps", "StatefulSet"): "statefulset"}
_KNOWN = frozenset(
    (
        *("batch/job", "jobset.x-k8s.io/jobset", "leaderworkerset.x-k8s.io/leaderworkerset"),
        *(f"kubeflow.org/{kind}job" for kind in ("jax", "mpi", "paddle", "pytorch", "tf", "xgboost")),
        *("ray.io/raycluster", "ray.io/rayjob", "ray.io/rayservice", "trainer.kubeflow.org/trainjob"),
    )
)


class Configuration(NamedTuple):
    """A Configuration of Kueue; `frameworks` are the names of its integrations."""

    frameworks: frozenset[str]
    tree: dict[str, Any]
    at: Place


def configuration_of(project: Project) -> Configuration | None:
    """Returns the configuration of Kueue; None if the files hold none, or several for different clusters."""
    found = [one for one in project.of_kind("Configuration") if group_of(one.api_version) == "config.kueue.x-k8s.io"]
    if len(found) != 1:
        return None
    frameworks = frozenset(map(str, items(found[0].tree, "integrations", "frameworks")))
    return Configuration(frameworks, found[0].tree, found[0].at)


def framework_of(run: Run) -> str | None:
    """Returns the name of the integration for a run; None for a kind that has none."""
    group = group_of(run.api_version)
    name = f"{group}/{run.kind.lower()}"
    return _PLAIN.get((group, run.kind)) or (name if name in _KNOWN else None)
