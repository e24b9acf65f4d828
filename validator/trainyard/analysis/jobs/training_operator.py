"""The jobs of Kubeflow's training operator, v1 of Kubeflow Trainer."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Project, Run


def jobs(project: Project) -> list[Run]:
    """Returns the jobs that only the training operator serves, in the order of the files."""
    return [run for run in project.runs if run.kind in REPLICA_FIELDS and run.api_version == "kubeflow.org/v1"]


def others(found: Sequence[Run]) -> str:
    """Returns a few words on the jobs after the first one, empty if there are none."""
    rest = len(found) - 1
    return f" ({rest} more such job{'s' if rest > 1 else ''})" if rest else ""
