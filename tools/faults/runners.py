"""What is compared: a run of ours and a stock PyTorchJob, with one model, one step and one pace of checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from tests.cluster import api, loading
from tests.jobs.run import Run

from .site import CHECKPOINTS, EVENTS, EVENTS_FILE, Site

PLAIN = Path(__file__).with_name("plain.py")
# A step takes some 0.2 s on one core.
MODEL = {"hidden_size": 128, "num_layers": 2, "context_length": 64, "batch_size": 24}
LIMITS = {"cpu": "1", "memory": "1Gi"}
REQUESTS = {"cpu": "100m", "memory": "512Mi"}
# What the README of the trainer recommends, in the measure of steps this short.
STEP_TIMEOUT_SECONDS, HANG_SECONDS = 20, 15
SAVE_STEPS = 10
# A few pods can tell each other every second that they live.
MEETING = {"keepAliveSeconds": 1, "lastCallSeconds": 10}


class Runner(ABC):
    """One way to run the training; `meeting` is its pod with the store where the processes meet, `other` the other."""

    name: ClassVar[str]
    meeting: ClassVar[str]
    other: ClassVar[str]

    @abstractmethod
    def install(self, place: Site) -> None:
        """Begin a run, named as the runner is, that does not end by itself."""


class Ours(Runner):
    """`charts/training-job` with the reference trainer, elastic, with the settings that we recommend."""

    name, meeting, other = "ours", "ours-worker-0", "ours-worker-1"

    def install(self, place: Site) -> None:
        """Install the release."""
        run = Run(place.cluster, place.engine, place.namespace, self.name)
        run.install(settings=self.settings(place))

    def settings(self, place: Site) -> dict[str, object]:
        """Values of the release."""
        config = {
            "model": "gpt",
            "data": "text",
            **MODEL,
            "epochs": 1_000_000,
            "checkpoint_steps": SAVE_STEPS,
            "step_timeout_seconds": STEP_TIMEOUT_SECONDS,
            "hang_seconds": HANG_SECONDS,
            "log_steps": SAVE_STEPS,
            "events_file": f"/{EVENTS}/{EVENTS_FILE}",
        }
        return {
            "nodes": 2,
            "elastic": {"enabled": True, "minNodes": 1, "maxNodes": 2, **MEETING},
            "train.args": ["--checkpoint-dir", f"/{CHECKPOINTS}"],
            "train.config": config,
            "resources": {"limits": LIMITS, "requests": REQUESTS},
            "checkpoints.existingClaim": CHECKPOINTS,
            "volumes": {EVENTS: {"claim": EVENTS, "mountPath": f"/{EVENTS}"}},
            "placement.spread": "none" if place.small else "required",
        }


class Stock(Runner):
    """A PyTorchJob as its documentation has it: torchrun without restarts, containers that restart when they fail."""

    name, meeting, other = "stock", "stock-master-0", "stock-worker-0"

    def install(self, place: Site) -> None:
        """Create the job and the ConfigMap with its script."""
        metadata = {"name": self.name, "namespace": place.namespace}
        script = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": {PLAIN.name: PLAIN.read_text()},
        }
        replicas = {"replicas": 1, "restartPolicy": "OnFailure", "template": self._template(place)}
        job = {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": metadata,
            "spec": {"nprocPerNode": "1", "pytorchReplicaSpecs": {"Master": replicas, "Worker": replicas}},
        }
        api.apply(place.cluster.kubeconfig, script, job)

    def _template(self, place: Site) -> dict[str, object]:
        options = [f"--{name.replace('_', '-')}={value}" for name, value in MODEL.items()]
        container = {
            "name": "pytorch",
            "image": loading.load(place.cluster, place.engine, "trainer"),
            "imagePullPolicy": "Never",
            "command": ["torchrun", f"/script/{PLAIN.name}"],
            "args": [f"--checkpoint=/{CHECKPOINTS}/last.pt", f"--events=/{EVENTS}/{EVENTS_FILE}", *options],
            "env": [{"name": "OMP_NUM_THREADS", "value": "1"}],
            "resources": {"limits": LIMITS, "requests": REQUESTS},
            "volumeMounts": [
                {"name": "script", "mountPath": "/script"},
                *({"name": name, "mountPath": f"/{name}"} for name in (CHECKPOINTS, EVENTS)),
            ],
        }
        volumes: list[dict[str, object]] = [{"name": "script", "configMap": {"name": self.name}}]
        volumes += [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in (CHECKPOINTS, EVENTS)]
        spec: dict[str, object] = {"containers": [container], "volumes": volumes}
        labels = {"app": self.name}
        if not place.small:
            apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
        return {"metadata": {"labels": labels}, "spec": spec}


RUNNERS: dict[str, Runner] = {runner.name: runner for runner in (Ours(), Stock())}
