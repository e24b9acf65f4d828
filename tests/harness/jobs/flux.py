"""The two controllers of Flux that install charts, as processes of this machine that work on a cluster.

They reach a registry of this machine, which pods do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.cluster import cache, modules
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.tools import binary
from tests.harness.jobs import operator_crds
from tests.harness.ports import free_port
from tests.harness.services import serving

TOOL = "flux"
SOURCES, RELEASES = CONTROLLERS = ("source-controller", "helm-controller")
# They would listen on fixed ports.
SILENT = ("--metrics-addr=0", "--health-addr=0", "--log-encoding=console")


@contextmanager
def running(cluster: Cluster, folder: Path) -> Iterator[None]:
    """Serve Flux's kinds and run its controllers until the block ends, when none of their objects may be left.

    Source-controller keeps charts in `folder`. The logs lie beside those of steps, as `flux-CONTROLLER.log`.
    """
    address = f"127.0.0.1:{free_port()}"
    storage = (f"--storage-path={folder}", f"--storage-addr={address}", f"--storage-adv-addr={address}")
    variables = {"KUBECONFIG": str(cluster.kubeconfig)}
    sources, releases = (cache.log_path(f"{TOOL}-{name}") for name in CONTROLLERS)
    with (
        operator_crds.served(cluster, crds()),
        serving([binary(SOURCES), *SILENT, *storage], sources, variables),
        serving([binary(RELEASES), *SILENT], releases, variables),
    ):
        yield


def crds() -> list[Path]:
    """Return the files with the CustomResourceDefinitions of both controllers."""
    folders = [modules.source(TOOL, f"github.com/fluxcd/{name}") / "config/crd/bases" for name in CONTROLLERS]
    return [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
