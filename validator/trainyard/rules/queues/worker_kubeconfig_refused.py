"""Kueue refuses the kubeconfig of a worker cluster, so the cluster is not active and gets no workloads.

Since 0.14.5, MultiKueue checks the kubeconfig of each worker: it must verify TLS, and hold its
certificates and credentials itself. Kueue refuses `insecure-skip-tls-verify`, paths of files such as
`certificate-authority` and `tokenFile`, plugins under `exec`, `auth-provider` and passwords. The MultiKueueCluster then
says "InsecureKubeConfig". A kubeconfig that a cloud's tool wrote for a person has `exec`.

The feature gate MultiKueueAllowInsecureKubeconfigs turns the check off, which the files seldom show. The rule takes an
unknown release for a current one.

Create a ServiceAccount in the worker, and write its token and `certificate-authority-data` into the kubeconfig.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.controllers import kueue_of
from trainyard.analysis.jobs.kueue_configurations import configuration_of
from trainyard.analysis.objects.secrets import decoded
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded_mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Project, Resource

_GATE = "MultiKueueAllowInsecureKubeconfigs"
_FIRST = (0, 14, 5)
_KEY = "kubeconfig"
_OF_CLUSTER = ("insecure-skip-tls-verify", "certificate-authority")
_OF_USER = ("tokenFile", "exec", "auth-provider", "username", "password")


@rule(
    code="QU032",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.15.0 pkg/controller/admissionchecks/multikueue/multikueuecluster.go lines 473-546, "
        "v0.14.5, v0.16.0, v0.17.0 and v0.18.0: validateKubeconfig, validateRestConfig",
        "github.com/kubernetes-sigs/kueue pull request 7439",
    ),
    needs=("MultiKueueCluster",),
)
def worker_kubeconfig_refused(project: Project, context: Context) -> Iterator[Problem]:
    """Report kubeconfigs of workers that Kueue does not take."""
    kueue = kueue_of(project, context.target.kueue)
    known = configuration_of(project)
    allowed = known is not None and mapping(known.tree, "featureGates").get(_GATE) is True
    if allowed or before(kueue, _FIRST):
        return
    secrets: dict[str, Resource] = {one.name: one for one in project.of_kind("Secret")}
    seen = set()
    for cluster in project.of_kind("MultiKueueCluster"):
        source = mapping(cluster.tree, "spec", "clusterSource", "kubeConfig") or mapping(
            cluster.tree, "spec", "kubeConfig"
        )
        name = text(source, "location")
        if source.get("locationType") in (None, "Secret") and name in secrets and name not in seen:
            seen.add(name)
            yield from _faults(secrets[name], cluster)


def _faults(secret: Resource, cluster: Resource) -> Iterator[Problem]:
    for tree, at, is_shown in _configurations(secret):
        for place, reason in _reasons(tree, at):
            yield Problem(
                place.key() if is_shown else secret.at.child("data", _KEY),
                f"Kueue refuses {reason} in the kubeconfig of the worker `{cluster.name}`, which stays inactive",
                "write a token of a ServiceAccount and certificate-authority-data into it",
            )
            break


def _configurations(secret: Resource) -> Iterator[tuple[dict[str, Any], Place, bool]]:
    """Yields the kubeconfig, its place, and true if the file shows its lines."""
    for field in ("stringData", "data"):
        written = mapping(secret.tree, field).get(_KEY)
        raw = decoded(written) if field == "data" and isinstance(written, str) else None
        plain = raw.decode("utf-8", "replace") if raw is not None else written if field == "stringData" else None
        inner = embedded_mapping(secret.at.child(field, _KEY), plain) if isinstance(plain, str) else None
        if inner is not None:
            yield inner.tree, Place(inner), field == "stringData"


def _reasons(tree: dict[str, Any], at: Place) -> Iterator[tuple[Place, str]]:
    for index, one in enumerate(items(tree, "clusters")):
        cluster = mapping(one, "cluster")
        for name in _OF_CLUSTER:
            if cluster.get(name) not in (None, False, ""):
                yield at.child("clusters", index, "cluster", name), f"`{name}`"
    name_of_context = text(tree, "current-context")
    current = (text(one, "context", "user") for one in items(tree, "contexts") if text(one, "name") == name_of_context)
    user_of_context = next(current, "")
    for index, one in enumerate(items(tree, "users")):
        user = mapping(one, "user")
        # Of the users that the current context does not name, Kueue reads the path alone.
        names = _OF_USER if text(one, "name") == user_of_context else _OF_USER[:1]
        for name in names:
            if user.get(name) not in (None, "", {}):
                yield at.child("users", index, "user", name), f"`{name}`"
