"""Kinds and API versions that no current release serves, and those that are misspelt."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.document.lookup import items
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.kubernetes.removed_apis import DROPPED, KUBEFLOW_JOBS, PRELIMINARY, REMOVED
from trainyard.loaders.schemas.partial import is_assertion
from trainyard.loaders.schemas.table import BUILT_IN, FOLDER, OPERATORS, table_of
from trainyard.model.run import Misfit

if TYPE_CHECKING:
    from trainyard.model.run import Resource

_ALIKE = 0.8
# Groups that resemble a known one, and are served: Azure's copy of the Prometheus operator.
_TWINS = frozenset(("azmonitoring.coreos.com",))
# `oc` gives these kinds of `v1` their group, and processes templates of it.
# Source: openshift/library-go pkg/legacyapi/legacygroupification: OAPIToGroupifiedGVK.
_LEGACY_OF_OPENSHIFT = frozenset(("BuildConfig", "DeploymentConfig", "ImageStream", "Route", "Template"))
# It gives the objects of a template their groups, too, whatever their kind is.
# Source: openshift/library-go pkg/template/templateprocessing/template.go: Process.
OPENSHIFT_ROLES = frozenset(("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"))
# `argo submit`, `argo lint` and `argo template create` read these kinds whatever their version is.
# Source: argoproj/argo-workflows v3 workflow/common/parse.go: objectForKind.
_OF_ARGO = frozenset(
    ("ClusterWorkflowTemplate", "CronWorkflow", "Workflow", "WorkflowEventBinding", "WorkflowTemplate")
)
_KUBEFLOW = "kubeflow.org"
# A new version of these groups would be a new release of Kubernetes or of an operator that gets none.
_SETTLED = (_KUBEFLOW, "trainer.kubeflow.org")


def unserved(resource: Resource) -> Iterator[Misfit]:
    """Yields the fault of an object whose kind is not in a table of types; none for a kind that may exist."""
    version, kind = resource.api_version, resource.kind
    if kind == "Config" and "clusters" in resource.tree:
        # The configuration of kubectl, which no API server gets.
        return
    if version == "v1" and (kind in (_LEGACY_OF_OPENSHIFT | _OF_ARGO) or _is_in_template(resource)):
        return
    if is_assertion(resource.at.document) or (version, kind) in PRELIMINARY or _is_placeholder(version):
        return
    if not version and _is_of_dask(resource):
        return
    at = resource.at.child("apiVersion" if version else "kind")
    kinds = _kinds()
    known = kinds.get(kind, ())
    removed = REMOVED.get((version, kind)) or REMOVED.get((version, ""))
    if not version:
        if known and "metadata" in resource.tree and len(resource.tree) > 2:
            # Other programs have files with a kind, too.
            message = f"the object has no apiVersion: a {kind} is of {format_list(known)}"
            yield Misfit("not served", at, message, f"write `apiVersion: {known[-1]}`")
    elif removed is not None:
        since, instead = removed
        message = f"Kubernetes has not served {version} {kind} since {since}"
        told = f"write `{instead}` and convert the fields" if instead else "nothing replaces it"
        yield Misfit("not served", at, message, told, instead or None, value=since)
    elif (dropped := DROPPED.get((version, kind))) is not None:
        operator, since, instead = dropped
        message = f"{operator} has not served {version} {kind} since {since}"
        yield Misfit("dropped", at, message, f"write `{instead}`", instead, value=(operator, since))
    elif version.startswith(f"{_KUBEFLOW}/") and kind in KUBEFLOW_JOBS:
        message = f"no current operator serves {version} {kind}"
        told = f"convert it to {format_list(known)}, whose fields differ" if known else ""
        yield Misfit("not served", at, message, told)
    else:
        yield from _misspelt(resource, known, kinds)


def _is_in_template(resource: Resource) -> bool:
    """True for an object of an OpenShift template that gets its group when the template is processed."""
    return resource.kind in OPENSHIFT_ROLES and resource.at.path[:1] == ("objects",)


def _is_of_dask(resource: Resource) -> bool:
    """True for the pod of a worker in a file for Dask's KubeCluster, which reads it as a pod whatever its version is.

    Source: dask/dask-kubernetes dask_kubernetes/common/objects.py: make_pod_from_dict.
    """
    containers = items(resource.tree, "spec", "containers") if resource.kind == "Pod" else []
    words = (word for one in containers for field in ("command", "args") for word in items(one, field))
    return any(str(word).startswith("dask-") or word == "dask" for word in words)


def _is_placeholder(version: str) -> bool:
    """True for a version that a program writes later, as `INGRESS_API`: groups have no capitals."""
    return any(part.isupper() or part.startswith("__") for part in version.split("/"))


def _misspelt(resource: Resource, known: tuple[str, ...], kinds: dict[str, tuple[str, ...]]) -> Iterator[Misfit]:
    version, kind = resource.api_version, resource.kind
    group = _group(version)
    table = table_of(version)
    built_in = table is not None and table is table_of(BUILT_IN)
    at = resource.at.child("apiVersion")
    own = _kinds_of_groups().get(group, {})
    if built_in or group in _SETTLED:
        if known:
            if not _is_older(version, known):
                return
            right = next((one for one in known if _group(one) == group), known[-1])
            message = f"{version} has no {kind}: it is a kind of {format_list(known)}"
            yield Misfit("unknown kind", at, message, f"write `{right}`", right)
            return
        meant = _folded(kind, kinds) or closest_match(kind, own, _ALIKE)
    elif table is not None:
        # Another version of a known kind may be one of another release.
        meant = _folded(kind, own) if kind not in own else None
    else:
        groups = {_group(one): one for one in known}
        near = closest_match(group, [one for one in groups if one], _ALIKE)
        if near is not None and group not in _TWINS:
            message = f"no API group is called {group}: {kind} is a kind of {groups[near]}"
            yield Misfit("unknown kind", at, message, f"did you mean `{groups[near]}`?", groups[near])
        return
    if meant is not None:
        message = f"{version} has no kind {kind}"
        yield Misfit("unknown kind", resource.at.child("kind"), message, f"did you mean `{meant}`?", meant)


def _is_older(version: str, known: tuple[str, ...]) -> bool:
    """True unless a later release may serve the version: one of its group is not yet stable."""
    own = [one for one in known if _group(one) == _group(version)]
    return not own or any(one.rpartition("/")[2][1:].isdigit() for one in own)


def _folded(kind: str, kinds: dict[str, tuple[str, ...]]) -> str | None:
    plain = kind.lower().replace("_", "").replace("-", "")
    return next((one for one in kinds if one.lower() == plain), None)


def _group(version: str) -> str:
    return version.rpartition("/")[0]


@functools.cache
def _kinds_of_groups() -> dict[str, dict[str, tuple[str, ...]]]:
    """Returns the kinds of each API group, with all of their versions."""
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for kind, versions in _kinds().items():
        for version in versions:
            groups.setdefault(_group(version), {})[kind] = versions
    return groups


@functools.cache
def _kinds() -> dict[str, tuple[str, ...]]:
    """Returns the API versions of each kind of all tables."""
    kinds: dict[str, tuple[str, ...]] = {}
    # The versions that users mean more often come last.
    for folder in (OPERATORS, FOLDER):
        with open(os.path.join(folder, "kinds.txt"), encoding="utf-8") as file:
            for kind, versions in (line.rstrip("\n").split("\t") for line in file):
                kinds[kind] = (*kinds.get(kind, ()), *versions.split())
    return kinds
