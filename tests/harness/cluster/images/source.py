"""The source of a node's image: a container registry if one answers, otherwise package registries."""

from __future__ import annotations

import subprocess

from tests.harness.cluster import host
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.images import node
from tests.harness.cluster.tools import KUBERNETES, kubernetes

# The image that the pinned kind uses by default.
PUBLISHED = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
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
    """Return the reference of the nodes' image, which kind pulls or which is built into the engine's store.

    An older Kubernetes is always built: the version that its charts are tried on is the one of a go.mod.
    """
    if kubernetes() == KUBERNETES["newest"] and registry_answers(engine):
        return PUBLISHED
    host.require_programs(host.IMAGE_PACKAGES, install=install)
    return node.ensure(engine)
