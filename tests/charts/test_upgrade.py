"""Upgrades of a run: the record on its job decides which values its pods can take."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts.helm import CHARTS, RELEASE, objects, template, tool

CHART = CHARTS["training-job"]
JOBS: dict[str, dict[str, Any]] = {
    "PyTorchJob": {"apiVersion": "kubeflow.org/v1", "spec": {"runPolicy": {"suspend": False}}},
    "TrainJob": {"apiVersion": "trainer.kubeflow.org/v1alpha1", "spec": {"suspend": False}},
}
RUN: dict[str, Any] = {"nodes": 4, "env": {"LEVEL": "debug"}, "resources": {"limits": {"nvidia.com/gpu": 8}}}

FILES = "train.config, accelerate or deepspeed (files)"

# Changes of the run RUN, and the fields that the refusal names; none if a running run can take the change.
UPGRADES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"runPolicy": {"ttlSecondsAfterFinished": 60, "activeDeadlineSeconds": 3600, "cleanPodPolicy": "All"}}, ""),
    ({"runPolicy": {"restartsPerNode": 9}}, ""),
    ({"runPolicy": {"suspend": True}, "nodes": 2}, ""),
    ({"checkpoints": {"size": "20Gi", "keep": False}}, ""),
    ({"resources": {"limits": {"nvidia.com/gpu": 8.0}}}, ""),
    ({"env": {"LEVEL": "info"}}, "env (pod.pytorch.env)"),
    ({"nodes": 3}, "nodes (replicas)"),
    (
        {"image": {"tag": "2"}, "train": {"args": ["--epochs", 9]}},
        "train (pod.pytorch.args), image (pod.pytorch.image)",
    ),
    ({"terminationGracePeriodSeconds": 90, "checkpoints": {"size": "20Gi"}}, "pod.terminationGracePeriodSeconds"),
    ({"restartPolicy": "ExitCode"}, "restartPolicy"),
    ({"processesPerNode": 4}, "processesPerNode (nprocPerNode)"),
    ({"podLabels": {"team": "vision"}}, "podLabels (pod.labels)"),
    ({"placement": {"nodes": {"ignore": ["gpu-017"]}}}, "placement (pod.affinity)"),
    ({"scheduling": {"queue": {"name": "research"}}}, "scheduling.queue (queue)"),
    ({"runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"}}, "runPolicy.managedBy (managedBy)"),
    ({"nodes": 2, "upgrade": {"force": True}}, ""),
]

CPU = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}
ELASTIC: dict[str, Any] = {"launcher": "deepspeed", "nodes": 4, "elastic": {"enabled": True, "maxNodes": 8}}
ELASTIC_UPGRADES: list[tuple[dict[str, Any], str]] = [
    ({"nodes": 6}, ""),
    ({"elastic": {"metrics": [{"type": "Resource", "resource": CPU}]}}, ""),
    ({"elastic": {"maxNodes": 16}}, "elastic (elasticPolicy)"),
    (
        {"elastic": {"enabled": False}},
        f"elastic (elasticPolicy), {FILES}, train (pod.pytorch.command), env (pod.pytorch.env), nodes (replicas)",
    ),
    ({"deepspeed": {"gradientAccumulation": 4}}, FILES),
]

CONFIGURED: dict[str, Any] = {"train": {"config": {"batch_size": 32}}}
CONFIGURED_UPGRADES: list[tuple[dict[str, Any], str]] = [({"train": {"config": {"batch_size": 64}}}, FILES)]

DATA: dict[str, Any] = {
    "volumes": {"data": {"claim": "team", "mountPath": "/data"}},
    "dataset": {"source": "http", "volume": "data", "http": {"urls": ["https://mirror.example.com/v1.tar"]}},
}
DATA_UPGRADES: list[tuple[dict[str, Any], str]] = [
    ({"dataset": {"http": {"urls": ["https://mirror.example.com/v2.tar"]}}}, "dataset"),
    ({"dataset": {"resources": {"limits": {"cpu": 4}}}}, "pod.dataset.resources"),
    ({"volumes": {"data": {"claim": "other"}}}, "pod.volumes"),
    ({"volumes": {"new": {"create": {"size": "1Gi"}, "mountPath": "/new"}}}, "pod.pytorch.volumeMounts, pod.volumes"),
]

TRAINJOB: dict[str, Any] = {"kind": "TrainJob", "nodes": 4, "scheduling": {"gang": {"scheduler": "volcano"}}}
TRAINJOB_UPGRADES: list[tuple[dict[str, Any], str]] = [
    ({"runPolicy": {"suspend": True}}, ""),
    ({"checkpoints": {"size": "20Gi", "keep": False}}, ""),
    ({"runPolicy": {"restartsPerNode": 9}}, "runPolicy or scheduling.gang (policy)"),
    ({"runPolicy": {"activeDeadlineSeconds": 60}}, "runPolicy or scheduling.gang (policy)"),
    ({"scheduling": {"gang": {"queue": "research"}}}, "runPolicy or scheduling.gang (policy)"),
    ({"restartPolicy": "Never"}, "pod.restartPolicy, runPolicy or scheduling.gang (policy), restartPolicy"),
    ({"image": {"tag": "2"}, "runPolicy": {"suspend": True}}, "image (pod.node.image)"),
    ({"nodes": 3}, "env (pod.node.env), runPolicy or scheduling.gang (policy), nodes (replicas)"),
]


def records(values: Any) -> dict[str, str]:
    """Return the annotations of the job of a run with these values."""
    result = template("helm", CHART, values=values)
    assert result.returncode == 0, result.stderr
    (job,) = (found for found in objects(result.stdout) if found["kind"] in JOBS)
    annotations: dict[str, str] = job["metadata"]["annotations"]
    return annotations


def merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Merge two trees of values."""
    both = {key: merged(first[key], part) for key, part in second.items() if isinstance(part, dict) and key in first}
    return first | second | both


@pytest.mark.parametrize(
    ("run", "upgrades"),
    [
        (RUN, UPGRADES),
        (ELASTIC, ELASTIC_UPGRADES),
        (CONFIGURED, CONFIGURED_UPGRADES),
        (DATA, DATA_UPGRADES),
        (TRAINJOB, TRAINJOB_UPGRADES),
    ],
    ids=["fixed", "elastic", "configured", "data", "TrainJob"],
)
def test_an_upgrade_is_refused_for_values_that_pods_cannot_take(
    tmp_path: Path, run: dict[str, Any], upgrades: list[tuple[dict[str, Any], str]]
) -> None:
    """helm-unittest takes the place of a cluster with a job that has the record of the run."""
    chart = shutil.copytree(CHART, tmp_path / CHART.name, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    kind = run.get("kind", "PyTorchJob")
    group, _, version = JOBS[kind]["apiVersion"].partition("/")
    name = f"{group}/{version}/{kind}"
    metadata = {"name": RELEASE, "namespace": "team", "annotations": records(run)}
    suite = {
        "suite": "upgrades",
        "templates": [f"job/{kind.lower()}.yaml"],
        "release": {"name": RELEASE, "namespace": "team", "upgrade": True},
        "capabilities": {"majorVersion": 1, "minorVersion": 34, "apiVersions": [name]},
        "kubernetesProvider": {
            "scheme": {
                name: {
                    "gvr": {"group": group, "version": version, "resource": f"{kind.lower()}s"},
                    "namespaced": True,
                }
            },
            "objects": [JOBS[kind] | {"kind": kind, "metadata": metadata}],
        },
        "tests": [
            {
                "it": f"{number}: {changes}",
                "set": merged(run, changes),
                "asserts": [
                    {"failedTemplate": {"errorPattern": rf"its pods cannot change: {re.escape(refused)}\. "}}
                    if refused
                    else {"isKind": {"of": kind}}
                ],
            }
            for number, (changes, refused) in enumerate(upgrades)
        ],
    }
    (chart / "tests").mkdir()
    (chart / "tests" / "upgrade_test.yaml").write_text(yaml.safe_dump(suite))

    command = [tool("helm-unittest"), "--strict", str(chart)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout + result.stderr
    assert f"{len(upgrades)} passed" in result.stdout


@pytest.mark.parametrize("value", [{"nodes": 2.0}, {"podLabels": {}}, {"train": {"args": ["--epochs", 3.0]}}])
def test_a_record_depends_on_the_rendered_values_not_on_their_notation(value: dict[str, Any]) -> None:
    values = {"nodes": 2, "train": {"args": ["--epochs", 3]}}

    assert records(merged(values, value))["trainyard/pods"] == records(values)["trainyard/pods"]
