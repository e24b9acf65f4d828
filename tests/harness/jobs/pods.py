"""Pods that tests create beside a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def restricted(
    image: str, command: Sequence[str], *, container: Mapping[str, object] | None = None, **spec: object
) -> dict[str, object]:
    """Return the spec of a pod with one container that Pod Security `restricted` admits, with minimal requests.

    `container` is merged into the container, and `spec` into the pod's spec.
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
