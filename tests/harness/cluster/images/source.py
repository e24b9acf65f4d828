"""Where a node's image comes from: a container registry when one answers, package registries otherwise."""

from __future__ import annotations

import subprocess

from .. import host
from ..engine import Engine
from . import node

# The image that kind v0.30.0 itself pins for its default Kubernetes version.
PUBLISHED = "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a"
PATIENCE_SECONDS = 5.0


def registry_answers(engine: Engine) -> bool:
    """Whether the published image's manifest arrives within 5 s, or the image is already here."""
    if engine.has_image(PUBLISHED):
        return True
    try:
        return engine.run("manifest", "inspect", f"docker.io/{PUBLISHED}", timeout=PATIENCE_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def node_image(engine: Engine, *, install: bool) -> str:
    """Reference of the image for the nodes, pulled by kind itself or built here and kept in the engine's store."""
    if registry_answers(engine):
        return PUBLISHED
    host.require_programs(host.IMAGE_PACKAGES, install=install)
    return node.ensure(engine)
