"""A cluster with one failed run, as its API server answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.commands.audit.cluster import Cluster, RequestRefusedError

TOKEN = "s3cr3t-value"  # noqa: S105 (no secret)
PLACE = "/api/v1/namespaces/demo"
JOBS = "/apis/kubeflow.org/v1/namespaces/demo/pytorchjobs"


class Answers(Cluster):
    """Answers each path with a body or the status of an error; without an answer, the path does not exist."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self._answers = answers
        self.paths: list[str] = []

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        """Returns the body of a path; of a list, the items with the label of a selector."""
        found = self._found(path)
        assert isinstance(found, dict)
        if "labelSelector" not in query:
            return found
        name, _, value = str(query["labelSelector"]).partition("=")
        return {"items": [one for one in found["items"] if one["metadata"].get("labels", {}).get(name) == value]}

    def lines(self, path: str, *, endless: bool = False, **query: str | int) -> Iterator[str]:  # noqa: ARG002
        """Returns the log of a path; that of the attempt before has `?previous` in its path."""
        return iter(str(self._found(path + ("?previous" if query.get("previous") else ""))).splitlines())

    def _found(self, path: str) -> Any:
        self.paths.append(path)
        found = self._answers.get(path, 404)
        if isinstance(found, int):
            raise RequestRefusedError(found, {"message": f"status {found}"})
        return found


def pod(name: str = "llm-worker-0", **status: Any) -> dict[str, Any]:
    """Returns a pod of the run `llm` that runs on node `n1`."""
    owner = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "llm"}
    variables = [{"name": "HF_TOKEN", "value": TOKEN}, {"name": "NCCL_DEBUG", "value": "INFO"}]
    return {
        "metadata": {
            "name": name,
            "labels": {"training.kubeflow.org/job-name": "llm"},
            "ownerReferences": [owner],
            "managedFields": [{"manager": "me"}],
        },
        "spec": {"nodeName": "n1", "containers": [{"name": "pytorch", "env": variables}]},
        "status": status,
    }


def failed_run() -> dict[str, Any]:
    """Returns the answers of a cluster in which the kernel has ended a container of the run `llm`."""
    ended = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    state = {"name": "pytorch", "restartCount": 1, "state": {"running": {}}, "lastState": ended}
    event = {
        "lastTimestamp": "2026-11-25T10:00:00Z",
        "type": "Warning",
        "reason": "BackOff",
        "involvedObject": {"kind": "Pod", "name": "llm-worker-0"},
        "message": "Back-off restarting failed container",
    }
    other = {**event, "involvedObject": {"kind": "Pod", "name": "another"}, "message": "not of this run"}
    job = {"metadata": {"name": "llm", "namespace": "demo"}, "spec": {"args": [f"--hub-token={TOKEN}"]}}
    condition = {"type": "MemoryPressure", "status": "True", "reason": "Low", "message": "little memory"}
    return {
        f"{PLACE}/pods": {"items": [pod(containerStatuses=[state]), {"metadata": {"name": "another"}}]},
        f"{PLACE}/events": {"items": [event, other]},
        f"{PLACE}/persistentvolumeclaims": {"items": [{"metadata": {"name": "llm-checkpoints"}}]},
        JOBS: {"items": [job]},
        f"{JOBS}/llm": job,
        "/api/v1/nodes/n1": {"metadata": {"name": "n1"}, "status": {"conditions": [condition]}},
        f"{PLACE}/pods/llm-worker-0/log": f"2026-11-25T10:00:00Z step 1\n2026-11-25T10:00:01Z token is {TOKEN}\n",
        f"{PLACE}/pods/llm-worker-0/log?previous": "2026-11-25T09:00:00Z step 9\n",
    }
