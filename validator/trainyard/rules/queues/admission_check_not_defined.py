"""An object of Kueue names another one that the files define under another name, so workloads are never admitted.

A ClusterQueue with an AdmissionCheck that does not exist is inactive. A check whose parameters do not exist is not
active: workloads reserve quota, and wait with it. This holds for the ProvisioningRequestConfig of a check, for its
MultiKueueConfig, and for the clusters of the latter.

The rule applies if no file defines any of the objects that are named, and the file of the one that names them defines
as many others at least, which nothing names.

Write the name of the object that the file defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.objects.known_objects import is_known
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Resource

_CHECK, _CLUSTER = "AdmissionCheck", "MultiKueueCluster"
_PARAMETERS = ("ProvisioningRequestConfig", "MultiKueueConfig")


class _Named(NamedTuple):
    kind: str
    name: str
    at: Place


@rule(
    code="QU029",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/cache/scheduler/clusterqueue.go: AdmissionCheckNotFound, inactive checks",
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/admissionchecks/provisioning: parametersRef",
        "github.com/kubernetes-sigs/kueue issue 1188",
    ),
    needs=(_CHECK, "MultiKueueConfig"),
)
def admission_check_not_defined(project: Project) -> Iterator[Problem]:
    """Report names of checks, of their parameters and of clusters that no file defines."""
    owners = project.of_kind("ClusterQueue", _CHECK, "MultiKueueConfig")
    named = [(owner, list(_named(owner))) for owner in owners]
    used = {(one.kind, one.name) for _, listed in named for one in listed}
    free: dict[tuple[str, str], list[str]] = {}
    for resource in project.of_kind(_CHECK, _CLUSTER, *_PARAMETERS):
        if resource.name and (resource.kind, resource.name) not in used:
            free.setdefault((resource.at.document.source.name, resource.kind), []).append(resource.name)
    for owner, listed in named if free else ():
        for kind in dict.fromkeys(one.kind for one in listed):
            wanted = [one for one in listed if one.kind == kind]
            others = free.get((owner.at.document.source.name, kind), [])
            if len(others) >= len(wanted) and not any(is_known(project, kind, one.name) for one in wanted):
                yield from _problems(owner, wanted, others)


def _problems(owner: Resource, wanted: list[_Named], others: list[str]) -> Iterator[Problem]:
    for one in wanted:
        yield Problem(
            one.at,
            f"there is no {one.kind} `{one.name}`: the {owner.kind} `{owner.name}` is not active",
            f"the file defines {', '.join(f'`{name}`' for name in others)}, which nothing names",
        )


def _named(owner: Resource) -> Iterator[_Named]:
    spec, at = mapping(owner.tree, "spec"), owner.at.child("spec")
    if owner.kind == "ClusterQueue":
        for index, name in enumerate(items(spec, "admissionChecks")):
            yield _Named(_CHECK, str(name), at.child("admissionChecks", index))
        place = at.child("admissionChecksStrategy", "admissionChecks")
        for index, one in enumerate(items(spec, "admissionChecksStrategy", "admissionChecks")):
            yield _Named(_CHECK, text(one, "name"), place.child(index, "name"))
    elif owner.kind == _CHECK and text(spec, "parameters", "kind") in _PARAMETERS:
        kind, name = text(spec, "parameters", "kind"), text(spec, "parameters", "name")
        yield _Named(kind, name, at.child("parameters", "name"))
    elif owner.kind == "MultiKueueConfig":
        for index, name in enumerate(items(spec, "clusters")):
            yield _Named(_CLUSTER, str(name), at.child("clusters", index))
