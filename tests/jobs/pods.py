"""Pods of a test's own beside a run."""

from __future__ import annotations

from collections.abc import Sequence


def restricted(image: str, command: Sequence[str]) -> dict[str, object]:
    """The spec of a pod with one container that Pod Security `restricted` admits, and that asks for next to nothing."""
    container = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "Never",
        "command": list(command),
        "resources": {"requests": {"cpu": "1m", "memory": "4Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    user = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    return {"containers": [container], "securityContext": user, "terminationGracePeriodSeconds": 1}
