"""Jobs in Katib experiments, Argo Workflows and other wrappers are judged as jobs, and parameters are not judged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from tests.validator.loaders.test_any_pod import lint, made, written
from tests.validator.rules import cases
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine.engine import Engine
from trainyard.engine.rule import Target
from trainyard.linting import pipeline
from trainyard.linting.report import Report

RULES = Engine(cases.every_rule(), Target())
KATIB = "${trialParameters.%s}"
ARGO = "{{inputs.parameters.%s}}"


def job(kind: str = "PyTorchJob") -> dict[str, Any]:
    """Return a job with most of the fields that rules read."""
    limits = {"cpu": 96, "memory": "900Gi", "nvidia.com/gpu": 8, "rdma/hca_shared_devices_a": 1}
    command = [
        "torchrun",
        "--nnodes=4",
        "--nproc-per-node=8",
        "--rdzv-endpoint=etcd.example.com:2379",
        "train.py",
        "--output-dir=/ckpt",
    ]
    variables = {"NCCL_DEBUG": "WARN", "NCCL_IB_HCA": "=mlx5_0", "NCCL_SOCKET_IFNAME": "=eth0", "OMP_NUM_THREADS": "8"}
    container = {
        "name": "pytorch",
        "image": "registry.example.com/llm:1.4",
        "command": command,
        "env": [{"name": name, "value": value} for name, value in variables.items()],
        "resources": {"limits": limits, "requests": {"cpu": 96, "memory": "900Gi"}},
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}, {"name": "ckpt", "mountPath": "/ckpt"}],  # noqa: S108
    }
    spec = {
        "schedulerName": "volcano",
        "terminationGracePeriodSeconds": 120,
        "containers": [container],
        "volumes": [
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}},
            {"name": "ckpt", "persistentVolumeClaim": {"claimName": "ckpt"}},
        ],
    }
    template = {"metadata": {"labels": {"app": "llm"}}, "spec": spec}
    worker = {"replicas": 4, "restartPolicy": "OnFailure", "template": template}
    policy = {"cleanPodPolicy": "Running", "backoffLimit": 12, "schedulingPolicy": {"minAvailable": 4}}
    if kind == "Volcano":
        task = {"name": "worker", "replicas": 4, "minAvailable": 4, "template": template}
        return made("batch.volcano.sh/v1alpha1", "Job", minAvailable=4, queue="a", plugins={"svc": []}, tasks=[task])
    if kind == "JobSet":
        inner = {"parallelism": 4, "completions": 4, "completionMode": "Indexed", "template": template}
        return made("jobset.x-k8s.io/v1alpha2", kind, replicatedJobs=[{"name": "worker", "template": {"spec": inner}}])
    if kind == "LeaderWorkerSet":
        return made("leaderworkerset.x-k8s.io/v1", kind, leaderWorkerTemplate={"size": 4, "workerTemplate": template})
    if kind == "Job":
        spec["restartPolicy"] = "Never"
        return made(
            "batch/v1", kind, parallelism=4, completions=4, completionMode="Indexed", backoffLimit=0, template=template
        )
    return made("kubeflow.org/v1", kind, runPolicy=policy, pytorchReplicaSpecs={"Worker": worker})


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all scalars but kinds, versions, and names that others refer to."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            if key not in ("apiVersion", "kind", "name", "capabilities"):
                yield from places(value, (*path, key))
    else:
        yield path


def with_parameter(tree: Any, path: tuple[Any, ...], form: str) -> Any:
    """Return a copy of a tree with a parameter in place of a value, or of the value of an option."""
    result = copy.deepcopy(tree)
    holder = result
    for step in path[:-1]:
        holder = holder[step]
    option, equals, _ = str(holder[path[-1]]).partition("=")
    name = form % "value"
    holder[path[-1]] = f"{option}={name}" if equals and option.startswith("--") else name
    return result


def katib(inner: dict[str, Any]) -> dict[str, Any]:
    """Return an experiment with trials of a job."""
    trial = {"primaryContainerName": "pytorch", "trialSpec": inner}
    return made("kubeflow.org/v1beta1", "Experiment", trialTemplate=trial)


def manifest_with_parameter(tree: Any, path: tuple[Any, ...]) -> str:
    """Return the text of an object with a parameter, without quotes in place of a number."""
    value = tree
    for step in path:
        value = value[step]
    text = written(with_parameter(tree, path, ARGO))
    name = ARGO % "value"
    return text.replace(f"'{name}'", name) if isinstance(value, int) else text


def workflow(manifest: str) -> dict[str, Any]:
    """Return a workflow that creates an object."""
    inputs = {"parameters": [{"name": "value"}, {"name": "cpu"}]}
    step = {"name": "train", "resource": {"action": "create", "manifest": manifest}, "inputs": inputs}
    return made("argoproj.io/v1alpha1", "Workflow", templates=[step])


def found(text: str) -> list[tuple[str, str]]:
    """Return the findings of all rules in a text."""
    report = pipeline.lint([pipeline.read_file(File(Source("a.yaml", text)))], RULES)
    return sorted((finding.rule.name, finding.message) for finding in report.findings)


@pytest.mark.parametrize("kind", ["PyTorchJob", "Volcano", "JobSet", "LeaderWorkerSet", "Job"])
def test_no_parameter_gives_a_finding(kind: str) -> None:
    tree = job(kind)
    own = found(written(katib(tree)))
    for path in places(tree):
        for wrapped in (katib(with_parameter(tree, path, KATIB)), workflow(manifest_with_parameter(tree, path))):
            new = [one for one in found(written(wrapped)) if one not in own]
            assert new == [], path


@pytest.mark.parametrize("kind", ["PyTorchJob", "Volcano"])
def test_a_job_in_a_workflow_is_judged_although_its_parameters_have_no_quotes(kind: str) -> None:
    tree = job(kind)
    manifest = written(tree).replace("name: llm\n", "name: {{workflow.name}}-llm\n", 1)
    manifest = manifest.replace("cpu: 96", "cpu: {{inputs.parameters.cpu}}").replace("--nnodes=4", "--nnodes=8")
    findings = lint(workflow(manifest)).findings
    assert {finding.rule.name for finding in findings} == {"torchrun-nnodes-replica-mismatch"}
    (finding,) = findings
    assert written(workflow(manifest)).split("\n")[finding.position.line - 1].endswith("--nnodes=8")


WRAPPERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "Experiment": katib,
    "Workflow": lambda inner: workflow(written(inner)),
    "AppWrapper": lambda inner: made("workload.codeflare.dev/v1beta2", "AppWrapper", components=[{"template": inner}]),
    "ManifestWork": lambda inner: made("work.open-cluster-management.io/v1", "ManifestWork", manifests=[inner]),
    "Template": lambda inner: {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "a"},
        "objects": [inner],
    },
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("kind", ["PyTorchJob", "Volcano", "LeaderWorkerSet"])
def test_the_rules_for_jobs_apply_in_a_wrapper(wrapper: str, kind: str) -> None:
    inner = yaml.safe_load(written(job(kind)).replace("--nnodes=4", "--nnodes=8"))
    assert {one.rule.name for one in lint(WRAPPERS[wrapper](inner)).findings} == {"torchrun-nnodes-replica-mismatch"}


def notes(tree: dict[str, Any]) -> tuple[str, ...]:
    """Return the notes on an object."""
    report: Report = lint(tree)
    return report.notes


def test_a_manifest_that_cannot_be_read_is_named() -> None:
    manifest = "apiVersion: batch/v1\nkind: Job\nspec:\n  containers: {{- range .names}}\n  - a: [\n"
    assert notes(workflow(manifest)) == (
        "a.yaml: not checked: no rule is about Workflow",
        "a.yaml:10: not checked: this object cannot be read before it is rendered",
    )
