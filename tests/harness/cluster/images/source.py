"""The source of a node's image: a container registry if one answers, otherwise package registries."""

from __future__ import annotations

import subprocess

from tests.harness.cluster import host
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.images import node

# The image that kind v0.30.0 itself pins for its default Kubernetes version.
PUBLISHED = "kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a"
PATIENCE_SECONDS = 5.0


def registry_answers(engine: Engine) -> bool:
    """Returns true if the engine has the published image, or a registry returns its manifest within 5 s."""
    if engine.has_image(PUBLISHED):
        return True
    try:
        return engine.run("manifest", "inspect", f"docker.io/{PUBLISHED}", timeout=PATIENCE_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def node_image(engine: Engine, *, install: bool) -> str:
    """Return the reference of the nodes' image, which kind pulls or which is built into the engine's store."""
    if registry_answers(engine):
        return PUBLISHED
    host.require_programs(host.IMAGE_PACKAGES, install=install)
    return node.ensure(engine)
