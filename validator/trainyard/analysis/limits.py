"""Resource limits that containers get from a LimitRange or a TrainJob's runtime."""

from __future__ import annotations

from trainyard.document.lookup import items, mapping
from trainyard.model.run import Project, Run


def has_default_limit(project: Project, namespace: str, resource: str) -> bool:
    """True if a LimitRange of the namespace gives containers a limit for this resource."""
    for limit_range in project.of_kind("LimitRange"):
        if not namespace or limit_range.namespace in (namespace, ""):
            for limit in items(limit_range.tree, "spec", "limits"):
                if resource in mapping(limit, "default") or resource in mapping(limit, "max"):
                    return True
    return False


def runtime_has_limit(run: Run, resource: str) -> bool:
    """True if a TrainJob's runtime limits the resource: since Trainer v2.3.0, the TrainJob's limits are added to it."""
    for job in items(run.runtime, "template", "spec", "replicatedJobs") if run.kind == "TrainJob" else ():
        for container in items(job, "template", "spec", "template", "spec", "containers"):
            if resource in mapping(container, "resources", "limits"):
                return True
    return False
