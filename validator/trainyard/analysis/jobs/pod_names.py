"""Names of the pods of jobs in the cluster's DNS, and the labels that controllers give them.

Sources: kubernetes.io/docs/concepts/services-networking/dns-pod-service (hostname and subdomain need a headless Service
of the subdomain's name) and workloads/controllers/job (Indexed: `<job>-<index>`); kubernetes-sigs/jobset v0.10.1
pkg/controllers/jobset_controller.go (`<jobset>-<replicatedJob>-<job>-<pod>`, a Service of the subdomain, by default the
JobSet's name); kubeflow/training-operator v1.9.3 pkg/controller.v1/common/service.go (a Service for each pod).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import integer, items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Role, Run

# Labels with these parts are given by controllers; the files do not show their values.
_CONTROLLED = ("kubernetes.io/", "k8s.io/", "kubeflow.org/", "x-k8s.io", "controller-uid", "job-name", "pod-template")


def may_match(selector: dict[str, Any], role: Role) -> bool:
    """True if a selector of a Service may select the pods of a role: only labels of the template are certain."""
    labels = role.pod.labels
    return all(
        str(labels[name]) == str(value) if name in labels else _is_controlled(name) for name, value in selector.items()
    )


def may_match_any(selector: dict[str, Any], project: Project) -> bool:
    """True if a selector may select pods of any run. Asks only the roles with one of its labels."""
    certain = [(name, str(value)) for name, value in selector.items() if not _is_controlled(name)]
    if not certain:
        return any(may_match(selector, role) for run in project.runs for role in run.roles)
    with_label = _by_label.of(project)
    return any(may_match(selector, role) for role in min((with_label.get(one, []) for one in certain), key=len))


def _is_controlled(label: object) -> bool:
    return any(part in str(label) for part in _CONTROLLED)


def _find_by_label(project: Project) -> dict[tuple[str, str], list[Role]]:
    found: dict[tuple[str, str], list[Role]] = {}
    for run in project.runs:
        for role in run.roles:
            for name, value in role.pod.labels.items():
                found.setdefault((str(name), str(value)), []).append(role)
    return found


_by_label: LastIndex[Project, dict[tuple[str, str], list[Role]]] = LastIndex(_find_by_label)


def host_count(run: Run, host: str) -> tuple[str, int] | None:
    """Returns the reason why a host name is none of a run's pods, and the number of pods of its role.

    None if the host is one of the pods, or none that the run would create.
    """
    for prefix, count, what in _hosts(run):
        if not host.startswith(prefix):
            continue
        index = host[len(prefix) :]
        if index.isdecimal() and len(index) < 8 and int(index) >= count:
            return f"the last {what} is `{prefix}{count - 1}`", count
    return None


def _hosts(run: Run) -> Iterator[tuple[str, int, str]]:
    """Yields the prefix of the names of a run's pods, their number and kind."""
    if run.kind == "Job" and run.spec.get("completionMode") == "Indexed":
        count = integer(run.spec, "completions") or integer(run.spec, "parallelism")
        if count:
            yield f"{run.name}-", count, "pod"
    elif run.kind == "StatefulSet":
        count, start = integer(run.spec, "replicas"), integer(run.spec, "ordinals", "start") or 0
        if count:
            yield f"{run.name}-", start + count, "pod"
    elif run.kind == "JobSet":
        for job in items(run.spec, "replicatedJobs"):
            count = _pods_of(job)
            for number in range(min(integer(job, "replicas") or 1, 64)):
                yield f"{run.name}-{text(job, 'name')}-{number}-", count, "pod"


def subdomain(run: Run, role: Role) -> str:
    """Returns the subdomain of a role's pods: the name of a Service; empty if they have none."""
    if run.kind == "JobSet":
        network = mapping(run.spec, "network")
        if network.get("enableDNSHostnames") is False:
            return ""
        return text(network, "subdomain") or run.name
    if run.kind == "StatefulSet":
        return text(run.spec, "serviceName")
    return text(role.pod.tree, "subdomain")


def job_counts(run: Run | None, role: Role) -> tuple[int, int]:
    """Returns the number of Jobs of a role of a JobSet, and of the pods of each; 0 for another kind of run."""
    for job in items(run.spec, "replicatedJobs") if run is not None and run.kind == "JobSet" else ():
        if text(job, "name") == role.name:
            jobs = 1 if mapping(job).get("replicas") is None else integer(job, "replicas") or 0
            return jobs, _pods_of(job)
    return 0, 0


def _pods_of(job: object) -> int:
    """Returns the number of pods of each Job of an entry of `replicatedJobs`."""
    inner = mapping(job, "template", "spec")
    return integer(inner, "completions") or integer(inner, "parallelism") or 1
