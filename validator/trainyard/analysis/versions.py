"""The version of a component that a container runs: the target of the user, or else that of its image.

An image's version is certain enough to report a fault, and not to change a file unasked: the container may install
another version when it starts. A problem that follows from it names the release in `rests_on`.
"""

from __future__ import annotations

from trainyard.engine.rule import Context, Release
from trainyard.model.run import Container
from trainyard.startup import pattern

# A program that the container starts before the training replaces what the image has.
_INSTALLS = pattern(r"\b(?:pip3?|uv|conda|mamba)\b[^\n;&|]*\binstall\b[^\n;&|]*(?:torch|nccl|requirements|deepspeed)")
# A library of the host or of a plugin may be loaded instead of the image's.
_LIBRARIES = ("LD_LIBRARY_PATH", "LD_PRELOAD")


def torch(context: Context, container: Container | None = None) -> Release:
    """Returns the release of PyTorch that a container runs; the container of the context by default."""
    if context.target.torch is not None:
        return Release("PyTorch", context.target.torch)
    return _of_image("PyTorch", container or context.container)


def nccl(context: Context, container: Container | None = None) -> Release:
    """Returns the release of NCCL that a container runs; the container of the context by default."""
    if context.target.nccl is not None:
        return Release("NCCL", context.target.nccl)
    return _of_image("NCCL", container or context.container)


def _of_image(component: str, container: Container | None) -> Release:
    if container is None or not isinstance(container.image, str) or not container.image:
        return Release(component, None)
    from trainyard.facts.images import contents

    found = contents(container.image)
    version = found.torch if component == "PyTorch" else found.nccl
    if version is None or _may_differ(component, container):
        return Release(component, None)
    return Release(component, version, container.at.child("image"))


def _may_differ(component: str, container: Container) -> bool:
    if component == "NCCL" and any(container.setting(name) is not None for name in _LIBRARIES):
        return True
    texts = (*container.command, *container.args, *(script.text for script in container.scripts))
    return any("install" in text and _INSTALLS.search(text) for text in texts)
