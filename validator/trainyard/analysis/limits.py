"""What the files leave open: a run whose pods are elsewhere, and namespaces with defaults."""

from __future__ import annotations

from validator.fields import items, mapping
from validator.model import Project, Run


def pods_are_whole(run: Run | None) -> bool:
    """Whether the run's pods are all in the files: those of a TrainJob are in its runtime."""
    return run is not None and (run.kind != "TrainJob" or run.runtime is not None)


def has_default_limit(project: Project, namespace: str, resource: str) -> bool:
    """Whether a LimitRange of the namespace gives containers a limit for this resource."""
    for limit_range in project.of_kind("LimitRange"):
        if not namespace or limit_range.namespace in (namespace, ""):
            for limit in items(limit_range.tree, "spec", "limits"):
                if resource in mapping(limit, "default") or resource in mapping(limit, "max"):
                    return True
    return False


def runtime_has_limit(run: Run, resource: str) -> bool:
    """Whether a TrainJob's runtime limits the resource: from Trainer v2.3.0 on, the TrainJob's limits join those."""
    for job in items(run.runtime, "template", "spec", "replicatedJobs") if run.kind == "TrainJob" else ():
        for container in items(job, "template", "spec", "template", "spec", "containers"):
            if resource in mapping(container, "resources", "limits"):
                return True
    return False
