"""Pods are judged in objects of any kind, and jobs are found in the objects that wrap them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.validator.rules import cases
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.engine.rule import Rule, Target
from trainyard.linting import pipeline
from trainyard.linting.report import Report
from trainyard.loaders.manifests.manifest import load_project
from trainyard.model.run import Project

REGULAR = tuple(rule for rule in registry.rules() if rule.persona == "regular")
# The other kinds have neither the fields of a job, its restart policies, nor the volumes that its controller makes.
OF_KIND = ("mount-of-absent-volume", "restart-policy-refused")
OF_NO_SCHEMA = tuple(rule for rule in REGULAR if rule.subject != "Misfit" and rule.name not in OF_KIND)
MISTAKE, RIGHT = "true", "1"


def container(value: str = MISTAKE) -> dict[str, Any]:
    """Return a container with a variable that NCCL reads as a number."""
    variable = {"name": "NCCL_IB_DISABLE", "value": value}
    return {"name": "pytorch", "image": "registry.example.com/llm:1.4", "env": [variable]}


def spec(value: str = MISTAKE) -> dict[str, Any]:
    """Return the spec of a pod with this container."""
    return {"containers": [container(value)]}


def template(value: str = MISTAKE) -> dict[str, Any]:
    """Return the template of such a pod."""
    return {"metadata": {"labels": {"app": "llm"}}, "spec": spec(value)}


def ending(pod: dict[str, Any]) -> dict[str, Any]:
    """Return the template with a restart policy for pods that end."""
    return {**pod, "spec": {"restartPolicy": "Never", **pod["spec"]}}


def pytorch_job(value: str = MISTAKE) -> dict[str, Any]:
    """Return a job with such pods."""
    return made("kubeflow.org/v1", "PyTorchJob", pytorchReplicaSpecs={"Worker": {"template": template(value)}})


def made(api_version: str, kind: str, /, **fields: Any) -> dict[str, Any]:
    """Return an object with these fields of its spec."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "llm"}, "spec": fields}


def objects(value: str) -> dict[str, Any]:
    """Return objects of many kinds, each with one such pod."""
    pod, job = template(value), pytorch_job(value)
    selector = {"matchLabels": {"app": "llm"}}
    ray = {"headGroupSpec": {"rayStartParams": {}, "template": pod}}
    found = [
        made("v1", "Pod", **spec(value)),
        made("apps/v1", "Deployment", replicas=2, selector=selector, template=pod),
        made("apps/v1", "StatefulSet", serviceName="llm", selector=selector, template=pod),
        made("apps/v1", "DaemonSet", selector=selector, template=pod),
        made("apps/v1", "ReplicaSet", selector=selector, template=pod),
        made("v1", "ReplicationController", template=pod),
        made("batch/v1", "CronJob", schedule="0 3 * * *", jobTemplate={"spec": {"template": ending(pod)}}),
        {"apiVersion": "v1", "kind": "PodTemplate", "metadata": {"name": "llm"}, "template": pod},
        made("batch.volcano.sh/v1alpha1", "Job", minAvailable=2, tasks=[{"name": "w", "replicas": 2, "template": pod}]),
        made("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", leaderWorkerTemplate={"size": 2, "workerTemplate": pod}),
        made("ray.io/v1", "RayCluster", **ray),
        made("ray.io/v1", "RayJob", entrypoint="python train.py", rayClusterSpec=ray),
        made("ray.io/v1", "RayService", rayClusterConfig=ray),
        made(
            "sagemaker.amazonaws.com/v1",
            "HyperPodPyTorchJob",
            nprocPerNode="8",
            replicaSpecs=[{"name": "pods", "replicas": 2, "template": pod}],
        ),
        made(
            "argoproj.io/v1alpha1", "Workflow", templates=[{"name": "train", "container": spec(value)["containers"][0]}]
        ),
        made("argoproj.io/v1alpha1", "Rollout", template=pod),
        made("serving.knative.dev/v1", "Service", template=pod),
        made("serving.kserve.io/v1alpha1", "ServingRuntime", **spec(value)),
        made("kueue.x-k8s.io/v1beta1", "Workload", podSets=[{"name": "main", "count": 2, "template": pod}]),
        made("example.com/v1", "Experiment", stages=[{"name": "pretrain", "workers": {"podTemplate": pod}}]),
        made("workload.codeflare.dev/v1beta2", "AppWrapper", components=[{"template": job}]),
        made("work.open-cluster-management.io/v1", "ManifestWork", workload={"manifests": [job]}),
        made("kubeflow.org/v1beta1", "Experiment", trialTemplate={"primaryContainerName": "pytorch", "trialSpec": job}),
        made(
            "argoproj.io/v1alpha1",
            "WorkflowTemplate",
            templates=[{"name": "train", "resource": {"action": "create", "manifest": written(job)}}],
        ),
        {"apiVersion": "v1", "kind": "List", "items": [made("apps/v1", "Deployment", selector=selector, template=pod)]},
        {
            "apiVersion": "apps/v1",
            "kind": "DeploymentList",
            "items": [made("apps/v1", "Deployment", selector=selector, template=pod)],
        },
        {
            "apiVersion": "template.openshift.io/v1",
            "kind": "Template",
            "metadata": {"name": "llm"},
            "objects": [job],
        },
    ]
    return {f"{one['apiVersion']} {one['kind']}": one for one in found}


WRAPPERS = (
    "workload.codeflare.dev/v1beta2 AppWrapper",
    "work.open-cluster-management.io/v1 ManifestWork",
    "kubeflow.org/v1beta1 Experiment",
    "argoproj.io/v1alpha1 WorkflowTemplate",
    "template.openshift.io/v1 Template",
)
# Each describes pods and makes none.
DESCRIPTIONS = (
    made("kyverno.io/v1", "ClusterPolicy", rules=[{"validate": {"pattern": {"spec": spec()}}}]),
    made("kubeflow.org/v2beta1", "Foo", podTemplateOverrides=[{"spec": {"containers": [{"name": "trainer"}]}}]),
    {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "patches": [{"spec": spec()}]},
)


def test_an_object_whose_controller_is_not_known_is_named_as_judged_in_part() -> None:
    pod = {"containers": [container(RIGHT) | {"resources": {"limits": {"nvidia.com/gpu": 8}}}]}
    (note,) = lint(made("example.com/v1", "Experiment", workers={"template": {"spec": pod}})).notes
    assert note == (
        "a.yaml:1: only the containers of Experiment llm were checked, because no rule knows its controller"
    )


def test_a_file_of_kinds_without_rules_is_named_as_not_checked() -> None:
    (note,) = lint(made("v1", "Service", ports=[{"port": 80}])).notes
    assert note == "a.yaml: not checked: no rule is about Service"


def lint(tree: dict[str, Any]) -> Report:
    """Return the report of the default rules on an object."""
    return pipeline.lint([pipeline.read_file(File(Source("a.yaml", written(tree))))], Engine(REGULAR, Target()))


def written(tree: dict[str, Any]) -> str:
    """Return an object as YAML, with texts of several lines as people write them."""
    return yaml.dump(tree, Dumper=Dumper, sort_keys=False)


class Dumper(yaml.SafeDumper):
    """Writes block scalars, and no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        """Leaves anchors out."""
        return True


Dumper.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def project(tree: dict[str, Any]) -> Project:
    """Return what the loader makes of an object."""
    return load_project(pipeline.read_file(File(Source("a.yaml", yaml.safe_dump(tree)))).documents)


@pytest.mark.parametrize("name", objects(MISTAKE))
def test_a_mistake_in_a_container_is_found_in_an_object_of_any_kind(name: str) -> None:
    findings = lint(objects(MISTAKE)[name]).findings
    assert "nccl-word-boolean" in {finding.rule.name for finding in findings}


@pytest.mark.parametrize("name", objects(MISTAKE))
def test_the_place_of_the_mistake_is_its_line(name: str) -> None:
    findings = [one for one in lint(objects(MISTAKE)[name]).findings if one.rule.name == "nccl-word-boolean"]
    (line,) = {finding.position.line for finding in findings}
    assert written(objects(MISTAKE)[name]).split("\n")[line - 1].endswith("value: 'true'")


@pytest.mark.parametrize("name", objects(RIGHT))
def test_nothing_is_found_in_a_right_object(name: str) -> None:
    assert [(finding.rule.name, finding.message) for finding in lint(objects(RIGHT)[name]).findings] == []


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_job_is_found_in_the_object_that_wraps_it(name: str) -> None:
    assert [run.kind for run in project(objects(MISTAKE)[name]).runs] == ["PyTorchJob"]


@pytest.mark.parametrize("tree", DESCRIPTIONS, ids=lambda tree: tree["kind"])
def test_a_description_of_pods_is_not_judged(tree: dict[str, Any]) -> None:
    assert project(tree).runs == ()
    assert lint(tree).findings == ()


JOB = re.compile(r"^apiVersion: \S+\nkind: (PyTorchJob|MPIJob|JobSet|Job|TFJob)$", re.MULTILINE)
# The controller of the first one may add to the pods, that of the second one adds nothing.
KINDS = {"custom": "apiVersion: example.com/v1\nkind: Training", "plain": "apiVersion: apps/v1\nkind: DaemonSet"}
CONTAINER_RULES = tuple(
    rule for rule in cases.every_rule() if rule.subject in ("Pod", "Container", "Setting", "Script", "Command")
)
# Rules about what a pod lacks: a controller that is not known may add it.
OF_WHOLE_PODS = {
    "command-without-program",
    "extended-resource-request-without-limit",
    "hugepages-alone",
    "launcher-without-program",
    "nccl-topo-file-not-mounted",
    "quota-needs-quantity",
    "rdma-without-ipc-lock",
    "variable-defined-nowhere",
}
# Some jobs refer to variables that only their operator sets.
UNSET = "SC002"
# The controller of an unknown kind may start a pod again, as that of a Job without a retry does not.
STARTED_AGAIN = "tolerates-cordoned-node"
# Kustomize does not know the fields of an unknown kind.
HASHED = "RF071"
# Rules that compare the pods of a job with each other, or with what its operator sets, or that know jobs alone.
OF_JOBS = {
    "benchmark-beyond-gpus",
    "controller-variable-unset",
    "ds-hostfile-invalid",
    "gpu-node-without-gpu-request",
    "gpus-held-after-training",
    "elastic-with-fixed-nnodes",
    "foundry-batch-uneven",
    "grpo-generations-uneven",
    "host-network-without-dns-policy",
    "job-with-endless-helper",
    "launcher-exit-code-lost",
    "mnnvl-without-imex-claim",
    "mount-of-absent-volume",
    "mpijob-launcher-of-other-mpi",
    "mpirun-option-unknown",
    "nad-host-local-across-nodes",
    "nccl-debug-file-collides",
    "nccl-ib-disable-of-plugin",
    "nccl-ifname-absent-in-pod",
    "nccl-ifname-excludes-pod-eth0",
    "nccl-ifname-lists-loopback",
    "nccl-ifname-keeps-loopback",
    "nccl-ifname-ignores-attached-network",
    "nccl-ifname-prefix-too-broad",
    "nccl-net-plugin-off-with-efa",
    "null-gpu-quantity",
    "restart-policy-refused",
    "tolerates-cordoned-node",
    "torchrun-etcd-without-id",
    "torchrun-static-rank-override",
    "torchrun-more-processes-than-visible",
}


def found_in(text: str, case: cases.Case, rules: tuple[Rule, ...]) -> set[tuple[int, str]]:
    """Return line and code of what the rules find in a text, with the versions and the fabric of a case."""
    engine = Engine(rules, case.target, case.profile, site=case.site)
    report = pipeline.lint([pipeline.read_file(File(Source(case.source.name, text)))], engine)
    return {(finding.position.line, finding.rule.code) for finding in report.findings}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", cases.every_rule(), ids=lambda rule: rule.name)
def test_a_valid_pod_is_valid_in_an_object_of_any_kind(rule: Rule, kind: str) -> None:
    for case in map(cases.load, cases.case_files(rule, "good")):
        found = found_in(JOB.sub(KINDS[kind], case.text), case, OF_NO_SCHEMA)
        # A launcher without its workers runs the ranks itself.
        of_job = {rule.code} if rule.name in OF_JOBS else set()
        if kind == "plain":
            of_job.add(UNSET)
        elif rule.name != STARTED_AGAIN:
            of_job.clear()
        if kind == "custom":
            of_job.add(HASHED)
        assert {code for _, code in found} <= of_job


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        pytest.param(rule, kind, id=f"{rule.name}-{kind}")
        for rule in CONTAINER_RULES
        for kind in KINDS
        if rule.name not in OF_JOBS and (kind == "plain" or rule.name not in OF_WHOLE_PODS)
    ],
)
def test_a_rule_for_containers_finds_the_same_in_an_object_of_any_kind(rule: Rule, kind: str) -> None:
    for case in map(cases.load, cases.case_files(rule, "bad")):
        text = JOB.sub(KINDS[kind], case.text)
        if text != case.text:
            assert found_in(text, case, (rule,)) == {one for one in case.expected if one[1] == rule.code}
