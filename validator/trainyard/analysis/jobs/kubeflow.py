"""Questions about a run that depend on its operator."""

from __future__ import annotations

from typing import Any

from trainyard.analysis.jobs.workloads import is_known
from trainyard.document.lookup import integer, items, mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Run

# Controllers of these add nothing to the pods of an object.
_PLAIN_GROUPS = ("v1", "apps/v1", "batch/v1")
# Fields with which a Workflow of Argo adds to the pods of its templates.
_ADDING = ("podSpecPatch", "templateDefaults", "workflowTemplateRef")


def elastic_range(run: Run) -> tuple[int | None, int | None]:
    """Returns the operator's bounds for torchrun: a missing one is the other one, or the number of Workers."""
    policy: dict[str, Any] = run.elastic or {}
    worker = run.role("Worker")
    low, high = integer(policy, "minReplicas"), integer(policy, "maxReplicas")
    if low is None and high is None:
        low = high = worker.replicas if worker is not None else None
    return (low if low is not None else high), (high if high is not None else low)


def metadata_of(run: Run) -> dict[str, Any]:
    """Returns the metadata of the object that a run was read from."""
    tree = run.at.document.tree
    for step in run.at.path:
        tree = tree[step]
    return mapping(tree, "metadata")


def is_mpi_operator(run: Run) -> bool:
    """True if the run is an MPIJob of the mpi-operator (v2beta1), and not of the training-operator."""
    return run.kind == "MPIJob" and run.api_version == "kubeflow.org/v2beta1"


def has_all_pods(run: Run | None) -> bool:
    """True if the files contain all pods of the run as they will be.

    The pods of a TrainJob are in its runtime. A controller that is not known may add anything to them.
    """
    if run is None or run.kind == "TrainJob":
        return run is not None and run.runtime is not None
    if run.kind == "Workflow" and run.api_version.startswith("argoproj.io/"):
        return not _adds.of(run.spec)
    return run.is_job or is_known(run) or run.api_version in _PLAIN_GROUPS


def _adds_to_pods(workflow: dict[str, Any]) -> bool:
    parts = (workflow, *(one for one in items(workflow, "templates") if isinstance(one, dict)))
    return any(field in part for part in parts for field in _ADDING)


# Rules ask for each of the templates, and each answer is about all of them.
_adds: LastIndex[dict[str, Any], bool] = LastIndex(_adds_to_pods)
