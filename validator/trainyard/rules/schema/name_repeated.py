"""Two containers, volumes, ports or mounts of a pod have the same name, port or path: the API server refuses the pod.

Names of containers, init containers included, must be unique in a pod, and so must names of volumes. A container cannot
have two ports of one name, nor mount two volumes at one path. The API server refuses a Deployment or a Job with
"Duplicate value" or "must be unique". A job of Kubeflow is accepted, and its operator fails to create each pod.

Names of variables in `env` may repeat, for which `duplicate-env` has other reasons.

Rename one of the two, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Pod
from trainyard.startup import pattern

# What an installer replaces: no name and no usual path has one of these.
_PLACEHOLDER = pattern(r"[{}$<>%@]|\A__\w+__\Z")


@rule(
    code="SM008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateContainers, ValidateVolumes, "
        "validateContainerPorts, ValidateVolumeMounts",
    ),
)
def name_repeated(pod: Pod) -> Iterator[Problem]:
    """Report a name that two parts of a pod share."""
    for what, key, holder, fields in _named(pod):
        # Places take longer to make than names to compare, and hardly a pod has a name twice.
        written = [item for field in fields for item in items(holder.tree, field)]
        if len(written) > 1 and len(names := [text(item, key) for item in written]) != len(set(names)):
            yield from _repeated(what, key, holder, fields, names)


def _named(pod: Pod) -> list[tuple[str, str, Pod | Container, tuple[str, ...]]]:
    found: list[tuple[str, str, Pod | Container, tuple[str, ...]]] = [
        ("containers are named", "name", pod, ("initContainers", "containers")),
        ("volumes are named", "name", pod, ("volumes",)),
    ]
    for container in (*pod.containers, *pod.init_containers):
        found.append(("mounts are at", "mountPath", container, ("volumeMounts",)))
        found.append(("ports are named", "name", container, ("ports",)))
    return found


def _repeated(
    what: str, key: str, holder: Pod | Container, fields: tuple[str, ...], names: list[str]
) -> Iterator[Problem]:
    first: dict[str, Place] = {}
    at, tree = holder.at, holder.tree
    places = [at.child(field, index, key) for field in fields for index in range(len(items(tree, field)))]
    for name, at in zip(names, places, strict=True):
        if name in first:
            message = f"two {what} `{name}`: the API server refuses the pod"
            yield Problem(at, message, "rename or remove one of them", (), ((first[name], "the other one"),))
        elif name and not _PLACEHOLDER.search(name):
            first[name] = at
