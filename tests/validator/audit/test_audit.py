"""The audit: its requests to a cluster, its findings, and its exit statuses."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.validator.audit.api_server import ApiServer
from tests.validator.audit.auditing import Audit, config_map, job, with_pod
from tests.validator.cli.sample_runs import FAULTY
from trainyard.cli.audit import at_version
from trainyard.linting.session import Options, start_session

POD = {
    "spec": {
        "containers": [
            {
                "name": "worker",
                "image": "registry.example.com/team/llm:1.4.2",
                "command": ["torchrun", "train.py"],
                "envFrom": [{"configMapRef": {"name": "nccl"}}],
                "env": [{"name": "NCCL_IB_DISABLE", "value": "yes"}],
            }
        ]
    }
}
WRAPPED = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "wrapped", "namespace": "team"},
    "spec": {"template": POD},
}
OWNER = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "llm", "controller": True}


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Audit:
    """The audit; it uses no proxy to reach this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return Audit(tmp_path, capfd)


def test_a_finding_has_the_name_of_the_object_and_offers_no_fix(audit: Audit) -> None:
    code, out, _ = audit(ApiServer(job(FAULTY)))
    assert code == 1
    assert out == (
        "pytorchjob/team/llm:16:22: error NC005 nccl-word-boolean: NCCL parses NCCL_SHM_DISABLE as an integer,"
        " so `no` means 0\n"
        "   |\n"
        '16 |               value: "no"\n'
        "   |                      ^^^^\n"
        '   = help: write "0"\n'
        "\n"
        "Found 1 error in 1 file.\n"
    )


def test_the_exit_status_of_a_clean_cluster_is_0(audit: Audit) -> None:
    assert audit(ApiServer(job())) == (0, "Nothing found in 1 file.\n", "")


def test_kinds_that_the_cluster_does_not_serve_are_named(audit: Audit) -> None:
    code, _, err = audit(
        ApiServer(
            job(), absent=("batch.volcano.sh/v1alpha1", "kueue.x-k8s.io/v1beta1", "scheduling.volcano.sh/v1beta1")
        )
    )
    absent = "Job.batch.volcano.sh, LocalQueue, ClusterQueue, Topology"
    assert (code, err) == (0, f"note: the cluster does not have {absent}\n")


def test_only_known_kinds_and_the_config_maps_of_runs_are_requested(audit: Audit) -> None:
    def change(template: dict[str, Any]) -> None:
        template["spec"]["containers"][0]["envFrom"] = [
            {"configMapRef": {"name": "nccl"}},
            {"secretRef": {"name": "s"}},
        ]
        template["spec"]["volumes"] = [{"name": "c", "projected": {"sources": [{"configMap": {"name": "absent"}}]}}]

    server = ApiServer(with_pod(change), config_map("nccl", NCCL_IB_DISABLE="yes"), config_map("other"))
    code, out, _ = audit(server)
    assert code == 1
    assert out.startswith("configmap/team/nccl:3:20: error NC005")
    assert {path for path in audit.requests if "configmaps" in path} == {
        "/api/v1/namespaces/team/configmaps/nccl",
        "/api/v1/namespaces/team/configmaps/absent",
    }
    assert not any("secrets" in path or "deployments" in path for path in audit.requests)


def test_a_name_that_is_a_path_is_never_requested(audit: Audit) -> None:
    def change(template: dict[str, Any]) -> None:
        names = ("../secrets/token", "..", "a?b", "%2e%2e/secrets/token", "")
        template["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": name}} for name in names]
        template["metadata"] = {"annotations": {"k8s.v1.cni.cncf.io/networks": "../../x/y"}}

    audit(ApiServer(with_pod(change)), "-n", "team")
    assert not any("secrets" in path or "/api/v1/namespaces/team/configmaps" in path for path in audit.requests)
    assert audit(ApiServer(), "-n", "../x").code == 2


RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {containers: [{name: node, envFrom: [{configMapRef: {name: nccl}}]}]}}}}
"""
TRAIN_JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm, namespace: team}
spec: {runtimeRef: {name: torch}}
"""


def test_the_config_maps_of_a_cluster_runtime_are_looked_up_in_the_namespace_of_its_train_job(audit: Audit) -> None:
    audit(ApiServer(yaml.safe_load(RUNTIME), yaml.safe_load(TRAIN_JOB)))
    assert "/api/v1/namespaces/team/configmaps/nccl" in audit.requests


def test_long_lists_are_read_to_the_end_even_when_a_continue_token_expires(audit: Audit) -> None:
    server = ApiServer(*(job(FAULTY, name) for name in ("a", "b", "c", "d", "e")), page=2, expiring=True)
    assert audit(server).out.endswith("Found 5 errors in 5 files.\n")


def test_a_kind_that_the_user_may_not_read_is_reported_with_the_missing_permission(audit: Audit) -> None:
    def change(template: dict[str, Any]) -> None:
        template["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": name}} for name in ("a", "b")]

    code, _, err = audit(ApiServer(with_pod(change), closed=("jobsets", "configmaps", "clusterpolicies")))
    assert code == 0
    assert err.splitlines() == [
        "note: JobSet is skipped in all namespaces: the user may not `list` `jobsets.jobset.x-k8s.io`",
        "note: ClusterPolicy is skipped: the user may not `list` `clusterpolicies.nvidia.com`",
        "note: ConfigMap is skipped in namespace team: the user may not `get` `configmaps`",
    ]


def test_namespaces_are_requested_one_by_one_and_an_empty_one_is_not_clean(audit: Audit) -> None:
    code, out, _ = audit(ApiServer(job(), job(FAULTY, namespace="other")), "-n", "team", "-n", "misspelt")
    assert code == 3
    assert out.startswith("namespace/misspelt:1:1: error HV007 nothing-linted")
    assert "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs" in audit.requests
    assert "/apis/kubeflow.org/v1/pytorchjobs" not in audit.requests


def test_a_network_in_another_namespace_is_known(audit: Audit) -> None:
    def network(namespace: str, name: str) -> dict[str, Any]:
        metadata = {"name": name, "namespace": namespace}
        config = '{"cniVersion": "0.3.1", "type": "macvlan", "master": "ens1", "ipam": {"type": "dhcp"}}'
        kind = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition"}
        return {**kind, "metadata": metadata, "spec": {"config": config}}

    def change(template: dict[str, Any]) -> None:
        template["metadata"] = {"annotations": {"k8s.v1.cni.cncf.io/networks": "fabric/roce"}}

    server = ApiServer(with_pod(change), network("team", "own"), network("fabric", "roce"), network("fabric", "other"))
    code, out, _ = audit(server, "-n", "team", "--pedantic", "--select", "NT013")
    assert (code, out) == (0, "Nothing found in 3 files.\n")
    path = "/apis/k8s.cni.cncf.io/v1/namespaces/fabric/network-attachment-definitions/roce"
    assert [asked for asked in audit.requests if "/fabric/" in asked] == [path]


def test_only_the_owner_of_a_generated_object_is_linted(audit: Audit) -> None:
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "w", "controller": True}
    made = job(FAULTY, "made", ownerReferences=[OWNER])
    code, out, _ = audit(ApiServer(made, job(FAULTY, "kept", ownerReferences=[workflow])))
    assert code == 1
    assert "pytorchjob/team/kept" in out
    assert "pytorchjob/team/made" not in out


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "name"),
    [
        ("batch/v1", "CronJob", {"jobTemplate": {"spec": {"template": POD}}}, "cronjob"),
        ("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"replicas": 2, "template": POD}]}, "job.batch.volcano.sh"),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"leaderWorkerTemplate": {"size": 2, "workerTemplate": POD}},
            "leaderworkerset",
        ),
        ("ray.io/v1", "RayJob", {"rayClusterSpec": {"headGroupSpec": {"template": POD}}}, "rayjob"),
        ("ray.io/v1", "RayCluster", {"headGroupSpec": {"template": POD}}, "raycluster"),
        (
            "sagemaker.amazonaws.com/v1",
            "HyperPodPyTorchJob",
            {"replicaSpecs": [{"template": POD}]},
            "hyperpodpytorchjob",
        ),
        (
            "workload.serving.volcano.sh/v1alpha1",
            "ModelServing",
            {"template": {"roles": [{"name": "prefill", "replicas": 1, "entryTemplate": POD}]}},
            "modelserving",
        ),
        (
            "elastic.iml.github.io/v1alpha1",
            "ElasticJob",
            {"replicaSpecs": {"worker": {"replicas": 1, "template": POD}}},
            "elasticjob",
        ),
        ("workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [{"template": WRAPPED}]}, "appwrapper"),
    ],
)
def test_jobs_of_other_operators_are_read_with_their_config_maps_and_owned_ones_are_not(
    audit: Audit, api_version: str, kind: str, spec: dict[str, Any], name: str
) -> None:
    def live(name: str, **metadata: Any) -> dict[str, Any]:
        metadata |= {"name": name, "namespace": "team", "uid": name}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}

    owner = {"apiVersion": api_version, "kind": kind, "name": "llm", "controller": True}
    made = live("made", ownerReferences=[owner])
    code, out, _ = audit(ApiServer(live("llm"), made, config_map("nccl", NCCL_SHM_DISABLE="no")), "--select", "NC005")
    assert code == 1
    assert f"{name}/team/llm:" in out
    assert "configmap/team/nccl:" in out
    assert "team/made" not in out


@pytest.mark.parametrize(("given", "target"), [((), (1, 33, 2)), (("kubernetes=1.31",), (1, 31))])
def test_the_cluster_s_version_is_the_target_unless_another_is_given(
    given: tuple[str, ...], target: tuple[int, ...]
) -> None:
    run = start_session(("cluster",), Options(target=given))
    assert at_version(run, "v1.33.2").config.target.kubernetes == target


def test_an_empty_cluster_is_not_clean(audit: Audit) -> None:
    code, out, _ = audit(ApiServer())
    assert code == 3
    assert out.startswith("cluster:1:1: error HV007 nothing-linted")


def test_an_annotation_allows_a_finding(audit: Audit) -> None:
    allowed = {"trainyard/allow": "nccl-word-boolean: this image parses the word"}
    code, out, _ = audit(ApiServer(job(FAULTY, annotations=allowed)))
    assert (code, out) == (0, "Nothing found in 1 file (1 allowed).\n")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "cannot be used"),
        ("hello", "cannot be used"),
        ("apiVersion: v1\nclusters: 3\ncurrent-context: a\n", "cannot be used"),
        (None, "there is no kubeconfig"),
    ],
)
def test_an_invalid_kubeconfig_is_a_usage_error(audit: Audit, text: str | None, words: str) -> None:
    path = audit.folder / "broken"
    if text is not None:
        path.write_text(text)
    code, out, err = audit.on(str(path))
    assert (code, out) == (2, "")
    assert words in err


def test_a_misspelt_context_is_answered_with_those_of_the_kubeconfig(audit: Audit) -> None:
    server = ApiServer()
    path = server.kubeconfig(audit.folder)
    server.stop()
    code, out, err = audit.on(path, "--context", "hear")
    assert (code, out, err) == (2, "", f"Error: the kubeconfig {path} has no context `hear`; it has `here`\n")


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port that is in use and that nothing listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


def test_a_cluster_that_does_not_answer_is_a_usage_error(audit: Audit, free_port: int) -> None:
    path = audit.folder / "kubeconfig"
    server = ApiServer()
    server.stop()
    known = Path(server.kubeconfig(audit.folder)).read_text()
    path.write_text(known.replace(server.address, f"http://127.0.0.1:{free_port}"))
    code, out, err = audit.on(str(path))
    assert (code, out) == (2, "")
    assert err == f"Error: the cluster at http://127.0.0.1:{free_port} does not answer: Connection refused\n"


def test_without_the_kubernetes_client_the_error_names_the_package(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    code, out, err = audit(ApiServer(job()))
    assert (code, out) == (2, "")
    assert "python -m pip install 'trainyard-cli[audit]'" in err
