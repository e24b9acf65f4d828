"""The kubelet reads credentials from Secrets of one type, and the pull secret of the pod is of another.

A pull secret has the type `kubernetes.io/dockerconfigjson`, or `kubernetes.io/dockercfg` for the old form. The kubelet
ignores any other, and logs nothing: the registry answers as to an unknown user, and the pod stays in
ImagePullBackOff with `pull access denied` or `unauthorized`. Without `type` a Secret is Opaque, and so is one that the
External Secrets operator makes.

The rule follows `imagePullSecrets` of pods and service accounts to the Secret, SealedSecret or ExternalSecret in the
files.

Write the type. It cannot be changed: delete the Secret, and create it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import Known, fitting
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

_JSON, _FIELD = "kubernetes.io/dockerconfigjson", "imagePullSecrets"
_TYPES = (_JSON, "kubernetes.io/dockercfg")
# Where each kind has the type of the Secret.
_TYPE_OF: dict[str, tuple[str, ...]] = {
    "Secret": ("type",),
    "SealedSecret": ("spec", "template", "type"),
    "ExternalSecret": ("spec", "target", "template", "type"),
}


@rule(
    code="RF068",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/credentialprovider/secrets/secrets.go: secretsToTrackedDockerConfigs compares the type",
        "kubernetes.io/docs/tasks/configure-pod-container/pull-image-private-registry",
        "external-secrets.io/latest/guides/common-k8s-secret-types: spec.target.template.type",
        "github.com/kubernetes/website issue 35154",
    ),
    needs=(_FIELD,),
)
def pull_secret_of_other_type(project: Project) -> Iterator[Problem]:
    """Report pull secrets that the kubelet does not read."""
    told: set[int] = set()
    for name, namespace, at in _references(project):
        found = fitting(project, "Secret", name, namespace, at)
        if len(found) != 1 or id(found[0]) in told:
            continue
        own = _type(found[0])
        if own is not None and own not in _TYPES:
            told.add(id(found[0]))
            path = _TYPE_OF[text(found[0].tree, "kind")]
            is_written = bool(text(found[0].tree, *path))
            yield Problem(
                found[0].at.child(*path) if is_written else found[0].at.child("kind"),
                f"the Secret `{name}` is {own}, and the kubelet takes credentials from the type {_JSON} alone",
                f"write `{path[-1]}: {_JSON}`" + ("" if is_written else f" at `{'.'.join(path)}`"),
                related=((at, "the pods that pull with it"),),
            )


def _references(project: Project) -> Iterator[tuple[str, str, Place]]:
    for run in project.runs:
        for role in run.roles:
            for index, entry in enumerate(items(role.pod.tree, _FIELD)):
                yield text(entry, "name"), run.namespace, role.pod.at.child(_FIELD, index, "name")
    for account in project.of_kind("ServiceAccount"):
        for index, entry in enumerate(items(account.tree, _FIELD)):
            yield text(entry, "name"), account.namespace, account.at.child(_FIELD, index, "name")


def _type(known: Known) -> str | None:
    """Returns the type of a Secret; None if the files do not tell it."""
    path = _TYPE_OF.get(text(known.tree, "kind"))
    if path is None:
        return None
    target = mapping(known.tree, "spec", "target")
    if text(target, "creationPolicy") in ("Merge", "None") or "templateFrom" in mapping(target, "template"):
        return None
    written = text(known.tree, *path)
    return None if any(sign in written for sign in "{$") else written or "Opaque"
