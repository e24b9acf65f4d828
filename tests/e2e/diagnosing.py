"""Verdicts of `trainyard doctor` about a run or a pod of a live cluster."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.errors import ClusterError
from trainyard.commands.audit.cluster import connect
from trainyard.commands.doctor.diagnosis import diagnose
from trainyard.commands.support import collecting, files


def causes(cluster: Cluster, namespace: str, name: str, folder: Path) -> frozenset[str]:
    """Return the names of the causes that are reported now."""
    run = collecting.collect(connect(cluster.kubeconfig), name, namespace)
    files.lay_out(run, folder)
    return frozenset(evidence.cause.name for evidence in diagnose([str(folder)]).causes)


def require(cluster: Cluster, namespace: str, name: str, wanted: frozenset[str], folder: Path, seconds: int) -> None:
    """Wait until exactly these causes are reported. The error names those that were reported instead."""
    found: frozenset[str] = frozenset()

    def are_reported() -> bool:
        nonlocal found
        found = causes(cluster, namespace, name, folder)
        return found == wanted

    try:
        api.wait_until(are_reported, what=f"{', '.join(wanted)} of {name}", seconds=seconds)
    except ClusterError as error:
        raise ClusterError(f"{error.message}; reported: {', '.join(sorted(found)) or 'nothing'}") from error
