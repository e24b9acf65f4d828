"""ClusterTrainingRuntimes that Kubeflow Trainer ships.

Source: kubeflow/trainer v2.0.0, v2.1.0, v2.2.0 and v2.3.0 manifests/base/runtimes: `mlPolicy` and the releases with the
file. v2.0.0 gives deepspeed-distributed four processes on each node, later releases one.
"""

from __future__ import annotations

from typing import Any

from trainyard.document.lookup import text
from trainyard.startup import NamedTuple

Release = tuple[int, int]


class ShippedRuntime(NamedTuple):
    """The framework of the runtime's policy, and the releases that have it: the first one, and the last if it ended."""

    framework: str
    first: Release
    last: Release | None = None


_TUNE = ShippedRuntime("torch", (2, 0))
SHIPPED: dict[str, ShippedRuntime] = {
    "torch-distributed": ShippedRuntime("torch", (2, 0)),
    "torch-distributed-with-cache": ShippedRuntime("torch", (2, 1)),
    "deepspeed-distributed": ShippedRuntime("mpi", (2, 0)),
    "mlx-distributed": ShippedRuntime("mpi", (2, 0)),
    "mpi-distributed": ShippedRuntime("mpi", (2, 0), (2, 0)),
    "jax-distributed": ShippedRuntime("jax", (2, 2)),
    "xgboost-distributed": ShippedRuntime("xgboost", (2, 2)),
    "torchtune-llama3.2-1b": _TUNE,
    "torchtune-llama3.2-3b": _TUNE,
    "torchtune-qwen2.5-1.5b": ShippedRuntime("torch", (2, 1)),
}


def shipped_runtime(spec: dict[str, Any]) -> ShippedRuntime | None:
    """Returns the shipped runtime that the spec of a TrainJob names, None for any other one."""
    kind = text(spec, "runtimeRef", "kind") or "ClusterTrainingRuntime"
    return SHIPPED.get(text(spec, "runtimeRef", "name")) if kind == "ClusterTrainingRuntime" else None


def shipped_policy(spec: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the `mlPolicy` of a shipped runtime, as a part of its spec."""
    found = shipped_runtime(spec)
    if found is None:
        return None
    # One process of MPI for each node becomes one for each GPU of the TrainJob.
    return {"mlPolicy": {found.framework: {"numProcPerNode": 1} if found.framework == "mpi" else {}}}
