"""templates/job and templates/checkpoints: the objects of a release."""

from __future__ import annotations

import re
from typing import Any

from validator.roads.origins import ABSENT, From
from validator.roads.training_job import text
from validator.roads.training_job.chart import chart
from validator.roads.training_job.pod import claim_name, pod, selector_labels
from validator.roads.training_job.values import RefusedError, Values

JOB = "templates/job/pytorchjob.yaml"
CLAIM = "templates/checkpoints/persistentvolumeclaim.yaml"
NEEDED = (
    "image", "nodes", "processesPerNode", "layout", "train", "torchrun", "resources", "env", "envSecrets",
    "sharedMemory", "temporaryStorage", "checkpoints", "placement", "restartPolicy", "runPolicy", "podLabels",
)  # fmt: skip
_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?\Z")


def objects(values: Values) -> list[tuple[str, dict[str, Any]]]:
    """The objects under construction, each with the template that makes it, in Helm's order."""
    _check(values)
    made = [(JOB, job(values))]
    if values.get("checkpoints", "enabled") and not values.get("checkpoints", "existingClaim"):
        made.insert(0, (CLAIM, claim(values)))
    return made


def _check(values: Values) -> None:
    for key in NEEDED:
        if values.get(key) is None:
            raise RefusedError((key,), "it is empty; give it a value, or remove the line to get the default")
    name = values.release.name
    if not _NAME.match(name):
        raise RefusedError((), f"a run cannot be named `{name}`: begin with a letter and use only a-z, 0-9 and -")
    longest = f"{name}-worker-{max(_workers(values) - 1, 0)}"
    if len(longest) > 63:
        raise RefusedError((), f"the release name `{name}` is too long: the pod {longest} would exceed 63 characters")


def _masters(values: Values) -> int:
    return 1 if values.get("layout") == "master-worker" else 0


def _workers(values: Values) -> int:
    return int(values.get("nodes")) - _masters(values)


def _metadata(name: str | From, values: Values) -> dict[str, Any]:
    known = chart()
    return {
        "name": name,
        "namespace": text.plain(values.release.namespace),
        "labels": {
            "helm.sh/chart": f"{known.name}-{known.version}",
            **selector_labels(values),
            "app.kubernetes.io/version": known.app_version,
            "app.kubernetes.io/managed-by": "Helm",
            "app.kubernetes.io/part-of": "trainyard",
        },
    }


def job(values: Values) -> dict[str, Any]:
    """The PyTorchJob."""
    replicas = {"Master": _masters(values), "Worker": _workers(values)}
    template = pod(values)
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": _metadata(text.plain(values.release.name), values),
        "spec": {
            "nprocPerNode": values.made(text.printed(values.get("processesPerNode")), "processesPerNode"),
            "runPolicy": _run_policy(values),
            "pytorchReplicaSpecs": {
                kind: {
                    "replicas": values.made(count, "nodes"),
                    "restartPolicy": values.bare("restartPolicy"),
                    "template": template,
                }
                for kind, count in replicas.items()
                if count > 0
            },
        },
    }


def _run_policy(values: Values) -> From:
    restarts = int(values.get("runPolicy", "restartsPerNode") or 0)
    limit = int(values.get("nodes")) * restarts + 1 if restarts else 0
    policy = {
        "backoffLimit": values.made(limit, "runPolicy", "restartsPerNode"),
        "cleanPodPolicy": values.copy("runPolicy", "cleanPodPolicy"),
        "suspend": values.bare("runPolicy", "suspend"),
    }
    for field in ("activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        seconds = values.get("runPolicy", field)
        policy[field] = ABSENT if seconds is None else values.copy("runPolicy", field)
    return values.made(policy, "runPolicy")


def claim(values: Values) -> dict[str, Any]:
    """The PersistentVolumeClaim for checkpoints."""
    metadata = _metadata(claim_name(values), values)
    if values.get("checkpoints", "keep"):
        metadata["annotations"] = values.made({"helm.sh/resource-policy": "keep"}, "checkpoints", "keep")
    storage_class = values.get("checkpoints", "storageClassName")
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": values.made(
            {
                "storageClassName": values.copy("checkpoints", "storageClassName") if storage_class else ABSENT,
                "accessModes": values.copy("checkpoints", "accessModes"),
                "resources": {"requests": {"storage": values.copy("checkpoints", "size")}},
            },
            "checkpoints",
        ),
    }
