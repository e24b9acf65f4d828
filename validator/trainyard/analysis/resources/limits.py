"""Resource limits that containers get from a LimitRange or a TrainJob's runtime."""

from __future__ import annotations

from trainyard.document.lookup import items, mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Run


def has_default_limit(project: Project, namespace: str, resource: str) -> bool:
    """True if a LimitRange of the namespace gives containers a limit for this resource."""
    namespaces = _namespaces_by_resource.of(project).get(resource, set())
    return bool(namespaces) and (not namespace or bool(namespaces & {namespace, ""}))


def runtime_has_limit(run: Run, resource: str) -> bool:
    """True if a TrainJob's runtime limits the resource: since Trainer v2.3.0, the TrainJob's limits are added to it."""
    for job in items(run.runtime, "template", "spec", "replicatedJobs") if run.kind == "TrainJob" else ():
        for container in items(job, "template", "spec", "template", "spec", "containers"):
            if resource in mapping(container, "resources", "limits"):
                return True
    return False


def _find_limits(project: Project) -> dict[str, set[str]]:
    """Returns the namespaces in which containers get a limit, by resource."""
    found: dict[str, set[str]] = {}
    for limit_range in project.of_kind("LimitRange"):
        for limit in items(limit_range.tree, "spec", "limits"):
            for resource in (*mapping(limit, "default"), *mapping(limit, "max")):
                found.setdefault(resource, set()).add(limit_range.namespace)
    return found


_namespaces_by_resource: LastIndex[Project, dict[str, set[str]]] = LastIndex(_find_limits)
