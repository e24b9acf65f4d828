"""The users that containers run as."""

from __future__ import annotations

from trainyard.document.document import Place
from trainyard.document.lookup import integer, mapping
from trainyard.model.run import Container, Pod


def user_of(container: Container, pod: Pod) -> tuple[int | None, Place]:
    """Returns the `runAsUser` of a container, or of its pod, with its place; None if neither has one."""
    for tree, at in ((container.tree, container.at), (pod.tree, pod.at)):
        user = integer(mapping(tree, "securityContext"), "runAsUser")
        if user is not None:
            return user, at.child("securityContext", "runAsUser")
    return None, pod.at
