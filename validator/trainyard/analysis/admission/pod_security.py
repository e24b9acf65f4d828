"""Fields of a pod that a level of the Pod Security Standards refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.kubernetes.pod_security import CAPABILITIES, HOST_NAMESPACES, RESTRICTED, SECCOMP, VOLUMES
from trainyard.model.run import Container, Pod
from trainyard.startup import NamedTuple


class Breach(NamedTuple):
    """A part that a level refuses; `is_needed` is true if the program may need it, so that the level may be wrong."""

    at: Place
    message: str
    help: str
    is_needed: bool = True


def breaches(pod: Pod, level: str) -> Iterator[Breach]:
    """Yields the parts of a pod that the level refuses."""
    for field in HOST_NAMESPACES:
        if pod.tree.get(field) is True:
            yield Breach(pod.at.child(field), f"`{field}` is forbidden", f"remove `{field}`")
    for volume in pod.volumes:
        if volume.kind == "hostPath" or (level == RESTRICTED and volume.kind and volume.kind not in VOLUMES):
            told = f"volumes of the kind `{volume.kind}` are forbidden"
            yield Breach(volume.at.child(volume.kind), told, "use a claim or an emptyDir")
    for container in (*pod.containers, *pod.init_containers):
        yield from _of_container(container, level)
        if level == RESTRICTED:
            yield from _of_restricted(container, mapping(pod.tree, "securityContext"))


def _of_container(container: Container, level: str) -> Iterator[Breach]:
    security = container.at.child("securityContext")
    if container.privileged:
        yield Breach(security.child("privileged"), "privileged containers are forbidden", "remove `privileged`")
    for index, name in enumerate(container.capabilities):
        if name.removeprefix("CAP_") not in CAPABILITIES[level] and name.replace("_", "").isalnum():
            at = security.child("capabilities", "add", index)
            yield Breach(at, f"it forbids the capability {name}", f"remove {name}")
    for index, port in enumerate(items(container.tree, "ports")):
        if mapping(port).get("hostPort"):
            at = container.at.child("ports", index, "hostPort")
            yield Breach(at, "ports of the host are forbidden", "remove `hostPort`")


def _of_restricted(container: Container, pod: dict[str, Any]) -> Iterator[Breach]:
    """Yields what the level wants and the container lacks, in one problem."""
    own = mapping(container.tree, "securityContext")
    if own.get("privileged") is True:
        return
    lacking = []
    if own.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True:
        lacking.append("`runAsNonRoot: true`")
    if own.get("allowPrivilegeEscalation") is not False:
        lacking.append("`allowPrivilegeEscalation: false`")
    if "ALL" not in items(own, "capabilities", "drop"):
        lacking.append("`capabilities.drop: [ALL]`")
    if (text(own, "seccompProfile", "type") or text(pod, "seccompProfile", "type")) not in SECCOMP:
        lacking.append("`seccompProfile.type: RuntimeDefault`")
    if lacking:
        told = f"the container `{container.name}` lacks {', '.join(lacking)}"
        yield Breach(container.at.child("name"), told, "add them to its `securityContext`", is_needed=False)
