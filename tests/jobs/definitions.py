"""CustomResourceDefinitions alone: a cluster serves their kinds, and nothing acts on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.cluster import api
from tests.cluster.cluster import Cluster

SERVED_SECONDS = "60s"


@contextmanager
def served(cluster: Cluster, files: Sequence[Path]) -> Iterator[None]:
    """Let the API server know the definitions of these files; afterwards they are gone."""
    named = [word for file in files for word in ("--filename", str(file))]
    try:
        # Client-side, a definition would have to fit into an annotation of its own.
        api.kubectl(cluster.kubeconfig, "apply", "--server-side", *named)
        api.kubectl(cluster.kubeconfig, "wait", "--for=condition=Established", f"--timeout={SERVED_SECONDS}", *named)
        yield
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", *named)
