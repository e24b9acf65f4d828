"""The runs: a Job as the floor, and releases of charts/training-job as PyTorchJob and TrainJob."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from tests.harness.cluster import api
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import CHARTS, Helm, Settings
from tests.harness.processors import busy_seconds
from tools.scale import measuring, watching
from tools.scale.control_plane import ControlPlane
from tools.scale.measuring import Usage
from tools.scale.nodes import GPUS

Object = dict[str, Any]
NAMESPACE = "scale"
CLAIM = "checkpoints"
PYTORCHJOB, TRAINJOB, JOB = "PyTorchJob", "TrainJob", "Job"
GONE_SECONDS = 600
WHOLE_NODE: Settings = {
    "image": {"repository": "registry.example.com/team/trainer", "tag": "2026.11"},
    "processesPerNode": GPUS,
    "train.script": "/app/train.py",
    "resources.limits": {"cpu": 64, "memory": "512Gi", "nvidia.com/gpu": GPUS},
    "checkpoints.existingClaim": CLAIM,
}


@dataclass(frozen=True)
class Workload:
    """Some runs at once of some pods each. `settings` are values of the chart beside those of a whole node."""

    kind: str
    runs: int
    nodes: int
    settings: tuple[tuple[str, object], ...] = ()

    @property
    def pods(self) -> int:
        """The number of pods of all runs."""
        return self.runs * self.nodes

    @property
    def services(self) -> int:
        """The number of Services: training-operator makes one for each pod, JobSet one for each run."""
        return {PYTORCHJOB: self.pods, TRAINJOB: self.runs, JOB: 0}[self.kind]


@dataclass(frozen=True)
class Timing:
    """Seconds from the first request until the last pod was created, scheduled and Running, and the last Service there.

    `others` is the number of processors that programs beside the control plane kept busy meanwhile.
    """

    created: float
    scheduled: float
    running: float
    services: float
    others: float
    used: dict[str, Usage]

    @property
    def complete(self) -> float:
        """The seconds until all pods were Running and all Services there."""
        return max(self.running, self.services)


def prepare(plane: ControlPlane) -> None:
    """Create the namespace of the runs and the claim on which they keep checkpoints."""
    size = {"storage": "1Ti"}
    volume = {
        "capacity": size,
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "shared",
        "nfs": {"server": "files.example.com", "path": "/"},
    }
    claim = {"accessModes": ["ReadWriteMany"], "storageClassName": "shared", "resources": {"requests": size}}
    metadata = {"name": CLAIM, "namespace": NAMESPACE}
    api.apply(
        plane.kubeconfig,
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": CLAIM}, "spec": volume},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim},
    )


def measure(
    plane: ControlPlane,
    workload: Workload,
    *,
    seconds: float,
    report: Callable[[str], None],
    inspect: Callable[[], None] = lambda: None,
) -> Timing:
    """Create the runs, wait until all of their pods are Running and all Services there, inspect, and remove them.

    Raises:
        ClusterError: They were not there in time, or the API server refused them.
    """
    objects = list(rendered(plane, workload))
    pods, services = watching.pods(plane, NAMESPACE), watching.services(plane, NAMESPACE)
    before, busy = measuring.usage(plane), busy_seconds()
    begin = time.monotonic()
    with removed(plane, workload):
        try:
            plane.create(objects)
            wanted = [(pods, "running", workload.pods), (services, "created", workload.services)]
            watching.wait(plane, wanted, seconds=seconds, report=report)
            used = measuring.between(before, measuring.usage(plane))
            own = sum(program.processor for program in used.values())
            others = max(busy_seconds() - busy - own, 0) / (time.monotonic() - begin)
            inspect()
        finally:
            pods.close()
            services.close()
    return Timing(
        created=pods.last("created") - begin,
        scheduled=pods.last("scheduled") - begin,
        running=pods.last("running") - begin,
        services=max(services.last("created") - begin, 0),
        others=others,
        used=used,
    )


@contextmanager
def removed(plane: ControlPlane, *loads: Workload) -> Iterator[None]:
    """Remove runs after a block, also one that fails; after an interruption the whole cluster goes anyway."""
    try:
        yield
    except ClusterError:
        remove(plane, *loads)
        raise
    remove(plane, *loads)


def remove(plane: ControlPlane, *loads: Workload) -> None:
    """Remove the runs, and wait until their pods and Services are gone."""
    kinds = {TRAINJOB: "trainjobs.trainer.kubeflow.org,trainingruntimes.trainer.kubeflow.org"}
    for kind in sorted({kinds.get(load.kind, load.kind) for load in loads}):
        plane.kubectl("delete", kind, "--all", f"--namespace={NAMESPACE}", "--wait=false")
    api.wait_until(lambda: _is_empty(plane, "jobs"), what="the jobs to be gone", seconds=GONE_SECONDS)
    api.wait_until(lambda: _is_swept(plane), what="the pods to be gone", seconds=GONE_SECONDS)


def _is_swept(plane: ControlPlane) -> bool:
    """Delete pods and Services, for which the garbage collector of stock controllers would take minutes."""
    for resource in ("services", "pods"):
        # The API server ends a request after a minute, with what it has deleted until then.
        with contextlib.suppress(ClusterError):
            plane.kubectl("delete", f"--raw=/api/v1/namespaces/{NAMESPACE}/{resource}?labelSelector=%21filler")
    return _is_empty(plane, "pods,services")


def _is_empty(plane: ControlPlane, kinds: str) -> bool:
    return not plane.kubectl("get", kinds, f"--namespace={NAMESPACE}", "--selector=!filler", "--output=name").strip()


def running(plane: ControlPlane) -> int:
    """Return the number of pods of the runs that are Running."""
    plane.processes.check()
    words = ("--selector=!filler", "--field-selector=status.phase=Running", "--output=name")
    return len(plane.kubectl("get", "pods", f"--namespace={NAMESPACE}", *words).split())


def rendered(plane: ControlPlane, workload: Workload) -> Iterator[Object]:
    """Yield the objects of the runs as the chart renders them."""
    pattern = "run-0000"
    text = render(plane, workload, pattern)
    for number in range(workload.runs):
        for found in yaml.load_all(text.replace(pattern, f"run-{number:04d}"), Loader=yaml.CSafeLoader):
            # The API server takes no list within a list.
            yield from (found["items"] if found["kind"] == "List" else [found]) if found else []


def render(plane: ControlPlane, workload: Workload, name: str) -> str:
    """Return the manifest of one run."""
    if workload.kind == JOB:
        return yaml.safe_dump(_job(plane, workload, name))
    settings = {**WHOLE_NODE, "kind": workload.kind, "nodes": workload.nodes, **dict(workload.settings)}
    words = [word for key, value in settings.items() for word in ("--set-json", f"{key}={json.dumps(value)}")]
    chart = str(CHARTS / "training-job")
    return Helm(plane.kubeconfig).run("template", name, chart, f"--namespace={NAMESPACE}", *words)


def _job(plane: ControlPlane, workload: Workload, name: str) -> Object:
    """Return an Indexed Job with the pods of a PyTorchJob."""
    settings = (("layout", "worker-only"), *workload.settings)
    run = yaml.safe_load(render(plane, Workload(PYTORCHJOB, 1, workload.nodes, settings), name))
    template = run["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    template["spec"].pop("affinity", None)
    size = {"completions": workload.nodes, "parallelism": workload.nodes, "completionMode": "Indexed"}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": {**size, "template": template}}
