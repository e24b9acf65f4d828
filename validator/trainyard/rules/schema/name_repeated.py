"""Two containers, volumes, ports or mounts of a pod have the same name, port or path: the API server refuses the pod.

Names of containers, init containers included, must be unique in a pod, and so must names of volumes. A container cannot
have two ports of one name, nor mount two volumes at one path. The API server refuses a Deployment or a Job with
"Duplicate value" or "must be unique". A job of Kubeflow is accepted, and its operator fails to create each pod.

Names of variables in `env` may repeat, for which `duplicate-env` has other reasons.

Rename one of the two, or remove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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
    yield from _repeated("containers are named", "name", pod.at, pod.tree, "initContainers", "containers")
    yield from _repeated("volumes are named", "name", pod.at, pod.tree, "volumes")
    for container in (*pod.containers, *pod.init_containers):
        yield from _repeated("mounts are at", "mountPath", container.at, container.tree, "volumeMounts")
        yield from _repeated("ports are named", "name", container.at, container.tree, "ports")


def _repeated(what: str, key: str, above: Place, tree: dict[str, Any], *fields: str) -> Iterator[Problem]:
    written = [item for field in fields for item in items(tree, field)]
    if len(written) < 2:
        return
    names = [text(item, key) for item in written]
    # Places take longer to make than names to compare, and hardly a pod has a name twice.
    if len(set(names)) == len(names):
        return
    first: dict[str, Place] = {}
    places = [above.child(field, index, key) for field in fields for index in range(len(items(tree, field)))]
    for name, at in zip(names, places, strict=True):
        if name in first:
            message = f"two {what} `{name}`: the API server refuses the pod"
            yield Problem(at, message, "rename or remove one of them", (), ((first[name], "the other one"),))
        elif name:
            first[name] = at
