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
from trainyard.model.run import Pod


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
    containers = [
        (text(tree, "name"), pod.at.child(field, index, "name"))
        for field in ("initContainers", "containers")
        for index, tree in enumerate(items(pod.tree, field))
    ]
    yield from _repeated("containers are named", containers)
    yield from _repeated(
        "volumes are named",
        [(text(tree, "name"), pod.at.child("volumes", n, "name")) for n, tree in enumerate(items(pod.tree, "volumes"))],
    )
    for container in (*pod.containers, *pod.init_containers):
        for field, key, what in (("volumeMounts", "mountPath", "mounts are at"), ("ports", "name", "ports are named")):
            at = container.at.child(field)
            entries = enumerate(items(container.tree, field))
            yield from _repeated(what, [(text(tree, key), at.child(index, key)) for index, tree in entries])


def _repeated(what: str, named: list[tuple[str, Place]]) -> Iterator[Problem]:
    first: dict[str, Place] = {}
    for name, at in named:
        if name in first:
            message = f"two {what} `{name}`: the API server refuses the pod"
            yield Problem(at, message, "rename or remove one of them", (), ((first[name], "the other one"),))
        elif name:
            first[name] = at
