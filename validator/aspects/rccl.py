"""Runs on AMD GPUs: their collectives come from RCCL, which reads other variables and has other releases."""

from __future__ import annotations

from validator.model import Run


def uses_rccl(run: Run | None) -> bool:
    """Whether a container of the run asks for AMD GPUs or has an image for them."""
    containers = [container for role in run.roles for container in role.pod.containers] if run is not None else []
    resources = {str(name) for container in containers for name in (*container.limits, *container.requests)}
    images = [container.image or "" for container in containers]
    return any(name.startswith("amd.com/") for name in resources) or any("rocm" in image for image in images)
