"""Kustomize appends a hash to the name of what it generates, and the custom object that refers to it keeps the name.

A `configMapGenerator` or a `secretGenerator` makes `scripts-7c4f9d2b6h` from `scripts`, and Kustomize writes the new
name into the pods, jobs and Deployments that refer to it. It knows the fields of Kubernetes alone: a PyTorchJob, a
JobSet, a HelmRelease or a GrafanaDashboard still names `scripts`, which no object has. Its pods stay in
ContainerCreating: `configmap "scripts" not found`.

The rule looks at objects that the kustomization lists as files, and leaves out the ones with `configurations`, `crds`
or `replacements`, which tell Kustomize about further fields.

Write `disableNameSuffixHash: true` below `generatorOptions`, or a `nameReference` for the kind in a file of
`configurations`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.folders import folder_of
from trainyard.document.document import Document, Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.schemas.partial import KUSTOMIZATIONS
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

_GENERATORS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
# With one of these, Kustomize knows more fields, or something else writes the name.
_TAUGHT = ("configurations", "crds", "replacements", "vars", "transformers", "openapi")
# Fields whose member names an object, and the member.
_FIELDS = {
    "ConfigMap": {"configMap": "name", "configMapRef": "name", "configMapKeyRef": "name"},
    "Secret": {"secret": "secretName", "secretRef": "name", "secretKeyRef": "name"},
}
# Groups of Kubernetes itself, whose fields Kustomize knows.
_OWN = ("apps", "batch", "autoscaling", "policy", "extensions")
# One of them is a kind of another project.
_KNATIVE = "serving.knative.dev"
_DEEPEST, _MOST = 24, 20_000


@rule(
    code="RF071",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kustomize 595696cf api/internal/konfig/builtinpluginconsts/namereference.go: the fields",
        "kubectl.docs.kubernetes.io/references/kustomize/kustomization/generatoroptions: disableNameSuffixHash",
        "github.com/grafana/grafana-operator issue 869",
    ),
    needs=tuple(_GENERATORS),
)
def generated_name_has_hash(project: Project) -> Iterator[Problem]:
    """Report custom objects that name a generated object without its hash."""
    kustomizations = [one for one in project.documents if _is_kustomization(one)]
    if any(mapping(one.tree).get(name) for one in kustomizations for name in _TAUGHT):
        return
    steps = 0
    for kustomization in kustomizations:
        generated = _generated(kustomization)
        for resource in _listed(kustomization, project) if generated else ():
            for kind, name, at in _references(resource.tree, resource.at, 0):
                steps += 1
                if steps > _MOST:
                    return
                if (kind, name) in generated:
                    yield Problem(
                        at,
                        f"Kustomize adds a hash to the name of the {kind} `{name}`, and does not know this field of a "
                        f"{resource.kind}: no {kind} has the name",
                        "write `disableNameSuffixHash: true` below `generatorOptions`",
                        related=((generated[kind, name], "the generator"),),
                    )


def _is_kustomization(document: Document) -> bool:
    tree = document.tree
    return isinstance(tree, dict) and (
        document.source.name.rpartition("/")[2] in KUSTOMIZATIONS or "kustomize.config" in text(tree, "apiVersion")
    )


def _generated(document: Document) -> dict[tuple[str, str], Place]:
    """Returns the objects that get a hash, with their places."""
    if mapping(document.tree, "generatorOptions").get("disableNameSuffixHash") is True:
        return {}
    return {
        (kind, text(entry, "name")): Place(document).child(field, index, "name")
        for field, kind in _GENERATORS.items()
        for index, entry in enumerate(items(document.tree, field))
        if mapping(entry, "options").get("disableNameSuffixHash") is not True and text(entry, "name")
    }


def _listed(document: Document, project: Project) -> Iterator[Resource]:
    """Yields the custom objects in the files that a kustomization lists, and in its own."""
    folder = folder_of(Place(document))
    listed = [one for one in items(document.tree, "resources") if isinstance(one, str)]
    by_path = _custom_objects.of(project)
    paths = [_normal(document.source.name), *(_normal(posixpath.join(folder, one)) for one in listed)]
    for path in dict.fromkeys(paths):
        yield from by_path.get(path, ())


def _find_custom(project: Project) -> dict[str, list[Resource]]:
    """Returns the objects of other groups than those of Kubernetes, by the path of their file."""
    found: dict[str, list[Resource]] = {}
    for resource in project.resources:
        group = resource.api_version.rpartition("/")[0]
        is_custom = "." in group and not group.endswith(".k8s.io") and group not in _OWN
        is_custom = (is_custom or group.endswith(".x-k8s.io")) and group != _KNATIVE
        if is_custom and not _is_kustomization(resource.at.document):
            found.setdefault(_normal(resource.at.document.source.name), []).append(resource)
    return found


_custom_objects: LastIndex[Project, dict[str, list[Resource]]] = LastIndex(_find_custom)


def _normal(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))


def _references(tree: Any, at: Place, depth: int) -> Iterator[tuple[str, str, Place]]:
    """Yields the kind, the name and the place of each reference to a ConfigMap or a Secret."""
    if depth > _DEEPEST:
        return
    if isinstance(tree, dict):
        for key, one in tree.items():
            for kind, fields in _FIELDS.items():
                member = fields.get(key) if isinstance(key, str) else None
                if member is not None and text(one, member):
                    yield kind, text(one, member), at.child(key, member)
            if key != "metadata" and isinstance(one, (dict, list)):
                yield from _references(one, at.child(key), depth + 1)
    elif isinstance(tree, list):
        for index, one in enumerate(tree):
            if text(one, "kind") in _FIELDS and text(one, "name") and at.path and at.path[-1] == "valuesFrom":
                yield text(one, "kind"), text(one, "name"), at.child(index, "name")
            yield from _references(one, at.child(index), depth + 1)
