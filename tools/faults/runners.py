"""The compared runs: ours and a stock PyTorchJob, with the same model, step time and checkpoint interval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from tests.harness.cluster import api, loading
from tests.harness.jobs.run import Run
from tools.faults.sandbox import CHECKPOINTS, EVENTS, EVENTS_FILE, Sandbox

PLAIN = Path(__file__).with_name("stock_training.py")
STOCK_CHECKPOINT = "last.pt"
# A step takes about 0.2 s on one core.
MODEL = {"hidden_size": 128, "num_layers": 2, "context_length": 64, "batch_size": 24}
LIMITS = {"cpu": "1", "memory": "1Gi"}
REQUESTS = {"cpu": "100m", "memory": "512Mi"}
# The recommendations of the trainer's README, scaled to such short steps.
STEP_TIMEOUT_SECONDS, HANG_SECONDS = 20, 15
SAVE_STEPS = 10
NODES = 2
# A node sends four heartbeats a second, which this machine delays by less than a second.
LOST_NODE_SECONDS = 2
# With so few pods a heartbeat every second is cheap.
RENDEZVOUS = {"keepAliveSeconds": 1, "lastCallSeconds": 10}


class Runner(ABC):
    """A way to run the training; `rendezvous_pod` hosts the rendezvous store."""

    name: ClassVar[str]
    rendezvous_pod: ClassVar[str]
    other_pod: ClassVar[str]

    @abstractmethod
    def install(self, sandbox: Sandbox) -> None:
        """Start a run with the name of the runner; it does not end by itself."""

    @abstractmethod
    def newest_checkpoint(self, folder: Path) -> Path:
        """Return the file with the tensors of the newest checkpoint in this folder."""


class Ours(Runner):
    """`charts/training-job` with the reference trainer, elastic, with our recommended settings."""

    name, rendezvous_pod, other_pod = "ours", "ours-worker-0", "ours-worker-1"

    def install(self, sandbox: Sandbox) -> None:
        """Install the release."""
        run = Run(sandbox.cluster, sandbox.engine, sandbox.namespace, self.name)
        run.install(settings=self.settings(sandbox))

    def newest_checkpoint(self, folder: Path) -> Path:
        """Return the largest file of the newest checkpoint."""
        newest = max(folder.glob("step-*"))
        return max(newest.iterdir(), key=lambda file: file.stat().st_size)

    def settings(self, sandbox: Sandbox) -> dict[str, object]:
        """Return the values of the release."""
        config = {
            "model": "gpt",
            "data": "text",
            **MODEL,
            "epochs": 1_000_000,
            "checkpoint_steps": SAVE_STEPS,
            "step_timeout_seconds": STEP_TIMEOUT_SECONDS,
            "hang_seconds": HANG_SECONDS,
            "lost_node_seconds": LOST_NODE_SECONDS,
            "log_steps": SAVE_STEPS,
            "events_file": f"/{EVENTS}/{EVENTS_FILE}",
        }
        return {
            "nodes": NODES,
            "elastic": {"enabled": True, "minNodes": 1, "maxNodes": NODES, **RENDEZVOUS},
            # Its ranks are forks, and its agent outlives the store.
            "torchrun.command": ["python3", "-m", "trainer.launcher"],
            "train.args": ["--checkpoint-dir", f"/{CHECKPOINTS}"],
            "train.config": config,
            "resources": {"limits": LIMITS, "requests": REQUESTS},
            "checkpoints.existingClaim": CHECKPOINTS,
            "volumes": {EVENTS: {"claim": EVENTS, "mountPath": f"/{EVENTS}"}},
            "placement.spread": "none" if sandbox.local else "required",
        }


class Stock(Runner):
    """A PyTorchJob as in its documentation: torchrun without restarts, containers that restart on failure."""

    name, rendezvous_pod, other_pod = "stock", "stock-master-0", "stock-worker-0"

    def install(self, sandbox: Sandbox) -> None:
        """Create the job and the ConfigMap with its script."""
        metadata = {"name": self.name, "namespace": sandbox.namespace}
        script = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": {PLAIN.name: PLAIN.read_text()},
        }
        replicas = {"replicas": 1, "restartPolicy": "OnFailure", "template": self._template(sandbox)}
        job = {
            "apiVersion": "kubeflow.org/v1",
            "kind": "PyTorchJob",
            "metadata": metadata,
            "spec": {"nprocPerNode": "1", "pytorchReplicaSpecs": {"Master": replicas, "Worker": replicas}},
        }
        api.apply(sandbox.cluster.kubeconfig, script, job)

    def newest_checkpoint(self, folder: Path) -> Path:
        """Return the only checkpoint."""
        return folder / STOCK_CHECKPOINT

    def _template(self, sandbox: Sandbox) -> dict[str, object]:
        options = [f"--{name.replace('_', '-')}={value}" for name, value in MODEL.items()]
        container = {
            "name": "pytorch",
            "image": loading.load(sandbox.cluster, sandbox.engine, "trainer"),
            "imagePullPolicy": "Never",
            "command": ["torchrun", f"/script/{PLAIN.name}"],
            "args": [f"--checkpoint=/{CHECKPOINTS}/{STOCK_CHECKPOINT}", f"--events=/{EVENTS}/{EVENTS_FILE}", *options],
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
        if not sandbox.local:
            apart = {"labelSelector": {"matchLabels": labels}, "topologyKey": "kubernetes.io/hostname"}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
        return {"metadata": {"labels": labels}, "spec": spec}


RUNNERS: dict[str, Runner] = {runner.name: runner for runner in (Ours(), Stock())}
