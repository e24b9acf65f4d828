"""Pods of a test's own beside a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def restricted(
    image: str, command: Sequence[str], *, container: Mapping[str, object] | None = None, **spec: object
) -> dict[str, object]:
    """The spec of a pod with one container that Pod Security `restricted` admits, and that asks for next to nothing.

    What `container` and `spec` hold is added to the container and to the pod.
    """
    main = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "Never",
        "command": list(command),
        "resources": {"requests": {"cpu": "1m", "memory": "4Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        **(container or {}),
    }
    user = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    return {"containers": [main], "securityContext": user, "terminationGracePeriodSeconds": 1, **spec}
