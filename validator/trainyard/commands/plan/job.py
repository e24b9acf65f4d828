"""The size of a run, its GPUs, its network and its settings, as its files say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trainyard.analysis.pods.placement import required_values
from trainyard.analysis.resources.trained_model import trainer_fields
from trainyard.commands.plan.errors import PlanError
from trainyard.commands.plan.hardware import name_of_label
from trainyard.document.document import Document
from trainyard.document.lookup import text
from trainyard.loaders.origins import RenderedDocument
from trainyard.loaders.run_files import documents_of, project_of, runs_in
from trainyard.model.run import Pod, Project, Run
from trainyard.model.site import Site

PRODUCT = "nvidia.com/gpu.product"


class Job(NamedTuple):
    """A run. `gpu` and `fabric` are empty if the files do not name them. `processes` is None if they do not say.

    `trainer` holds the fields of the reference trainer, `deepspeed` the configuration of DeepSpeed; both may be empty.
    """

    name: str
    kind: str
    pods: int
    gpus_per_pod: int
    processes: int | None
    gpu: str
    fabric: str
    trainer: Mapping[str, Any]
    deepspeed: Mapping[str, Any]

    @property
    def gpus(self) -> int:
        """The GPUs of all pods that train."""
        return self.pods * self.gpus_per_pod


def read_job(names: Sequence[str], site: Site | None) -> Job:
    """Returns the run in these files: values of charts/training-job, of which the last file wins, or a manifest.

    Raises `MistakeError`.
    """
    return job_in(documents_of(names), site, ", ".join(names))


def job_in(documents: Sequence[Document], site: Site | None, name: str) -> Job:
    """Returns the run in these documents, which messages call `name`. Raises `PlanError`."""
    project = project_of(documents, site)
    runs = runs_in(project)
    if not runs:
        raise PlanError(f"{name}: no run is in it; name values of charts/training-job, or a job's manifest")
    if len(runs) > 1:
        found = ", ".join(f"{run.kind} {run.name}" for run in runs)
        raise PlanError(f"{name}: it holds {len(runs)} runs ({found}); name a file with one of them")
    return _job(runs[0], project, site, name)


def _job(run: Run, project: Project, site: Site | None, name: str) -> Job:
    role = run.training_roles[0]
    container = role.container
    if container is None or not container.gpus:
        raise PlanError(f"{name}: the pods of {run.name} take no GPUs; a plan needs `nvidia.com/gpu` in the limits")
    if run.nodes is None:
        raise PlanError(f"{name}: the number of replicas of {run.name} is not a number")
    fabrics = [document.profile for document in project.documents if isinstance(document, RenderedDocument)]
    profile = next((one for one in fabrics if one), None) or (site.profile if site is not None else None)
    return Job(
        name=run.name,
        kind=run.kind,
        pods=run.nodes * run.groups,
        gpus_per_pod=container.gpus,
        processes=run.processes,
        gpu=next((gpu for label in _products(role.pod) if (gpu := name_of_label(label))), ""),
        fabric=profile or "",
        trainer=trainer_fields(role.pod, container, run, project)[0],
        deepspeed=project.deepspeeds[0].config if project.deepspeeds else {},
    )


def _products(pod: Pod) -> Iterator[str]:
    """Yields the labels of GPUs that the pods' placement names."""
    yield text(pod.tree, "nodeSelector", PRODUCT)
    yield from (value for value, _ in required_values(pod, (PRODUCT,)))


def racks(nodes: int, per_rack: int) -> int:
    """Returns the racks that the nodes fill."""
    return math.ceil(nodes / per_rack)
