"""Read a run's checkpoint from its volume, in a pod that was not part of the run."""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster import api
from tests.harness.jobs import pods

POD = "checkpoint-reader"


def read(kubeconfig: Path, namespace: str, claim: str, image: str) -> str:
    """Return the trainer's report on the newest valid checkpoint on `claim`; the pod computes its accuracy."""
    connection = api.connect(kubeconfig)
    api.apply(kubeconfig, _pod(namespace, claim, image))

    def phase() -> str | None:
        pod = api.find(connection, "v1", "Pod", POD, namespace)
        return pod.status.phase if pod is not None and pod.status.phase in ("Succeeded", "Failed") else None

    try:
        api.wait_until(phase, what="the checkpoint to be read", seconds=120)
        return api.kubectl(kubeconfig, "logs", POD, "--namespace", namespace).strip()
    finally:
        api.kubectl(kubeconfig, "delete", "pod", POD, "--namespace", namespace, "--ignore-not-found")


def _pod(namespace: str, claim: str, image: str) -> dict[str, object]:
    container = {
        "env": [{"name": "OMP_NUM_THREADS", "value": "1"}],
        "volumeMounts": [{"name": "checkpoints", "mountPath": "/checkpoints", "readOnly": True}],
    }
    spec = pods.restricted(
        image,
        ["python3", "-m", "trainer.evaluate", "/checkpoints"],
        container=container,
        restartPolicy="Never",
        volumes=[{"name": "checkpoints", "persistentVolumeClaim": {"claimName": claim, "readOnly": True}}],
    )
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD, "namespace": namespace}, "spec": spec}
