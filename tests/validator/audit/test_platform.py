"""`trainyard audit --platform`: a cluster that fulfils its site, and each way in which one does not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.validator.audit import api_server
from tests.validator.audit.api_server import ApiServer
from tests.validator.audit.auditing import Audit
from trainyard.loaders.site.chart import platform_objects, platform_values

SITE = """\
runs:
  checkpoints: {storageClassName: shared-files}
queues:
  enabled: true
  topologyLevels: [example.com/rack]
  flavors:
    - {name: h100, nodeLabels: {gpu: h100}}
  clusterQueues:
    - name: vision
      namespaces: [vision]
      quotas: [{flavor: h100, resources: {cpu: 96, memory: 1Ti, nvidia.com/gpu: 16}}]
"""
VALUES: dict[str, Any] = {
    "runs": {"checkpoints": {"storageClassName": "shared-files"}},
    "queues": {
        "enabled": True,
        "topologyLevels": ["example.com/rack"],
        "flavors": [{"name": "h100", "nodeLabels": {"gpu": "h100"}}],
        "clusterQueues": [
            {
                "name": "vision",
                "namespaces": ["vision"],
                "quotas": [{"flavor": "h100", "resources": {"cpu": 96, "memory": "1Ti", "nvidia.com/gpu": 16}}],
            }
        ],
    },
}
# What the fake server has to serve beside the kinds of runs.
KINDS = {
    "v1": ("Node", "Service", "ServiceAccount", "Secret"),
    "apps/v1": ("Deployment", "DaemonSet"),
    "storage.k8s.io/v1": ("StorageClass",),
    "apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
    "rbac.authorization.k8s.io/v1": ("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
    "admissionregistration.k8s.io/v1": ("ValidatingWebhookConfiguration",),
    "kueue.x-k8s.io/v1beta1": ("ResourceFlavor",),
    "policy/v1": ("PodDisruptionBudget",),
}
WIDE = ("Node", "StorageClass", "CustomResourceDefinition", "ResourceFlavor", "ValidatingWebhookConfiguration")
APIS = ("kubeflow.org/v1", "kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta1/LocalQueue")


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server serve the kinds of the platform."""
    for version, names in KINDS.items():
        rows = [(f"{name.lower()}s", name, not (name in WIDE or name.startswith("Cluster"))) for name in names]
        before = api_server.RESOURCES.get(version, [])
        missing = [row for row in rows if row[1] not in {known for _, known, _ in before}]
        monkeypatch.setitem(api_server.RESOURCES, version, [*before, *missing])


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Audit:
    """The audit, in a folder with the site; it uses no proxy to reach this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "site.yaml").write_text(SITE)
    return Audit(tmp_path, capfd)


def node(name: str, gpus: int = 8, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"gpu": "h100", "example.com/rack": "a", **labels}}
    status = {"allocatable": {"cpu": "96", "nvidia.com/gpu": str(gpus)}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}


def cluster() -> list[dict[str, Any]]:
    """Return the objects of a cluster that fulfils the site."""
    about = {"Name": "platform", "Namespace": "trainyard"}
    found = [copy.deepcopy(one.tree) for one in platform_objects(platform_values(VALUES), about, APIS, "1.33.2")]
    for tree in found:
        # The renderer reduces definitions to their names.
        tree.setdefault("apiVersion", "apiextensions.k8s.io/v1")
        if tree["kind"] == "Deployment":
            tree["status"] = {"availableReplicas": tree["spec"]["replicas"]}
    storage = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "shared-files"}}
    return [*found, storage, node("node-1"), node("node-2")]


def one(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [tree for tree in objects if tree["kind"] == kind]
    return found


def platform(audit: Audit, objects: list[dict[str, Any]], *options: str, **server: Any) -> tuple[int, str, str]:
    """Run the audit of a cluster with these objects."""
    # The server has only the Workload of this version.
    server.setdefault("absent", ("kueue.x-k8s.io/v1beta2",))
    return tuple(audit(ApiServer(*objects, **server), "--platform", "site.yaml", *options))  # type: ignore[return-value]


def test_a_cluster_that_fulfils_its_site_is_clean(audit: Audit) -> None:
    code, out, err = platform(audit, cluster())

    assert (code, err) == (0, "")
    assert out.startswith("The cluster fulfils its site (")


def test_the_audit_reads_no_secret(audit: Audit) -> None:
    platform(audit, cluster())

    assert [path for path in audit.requests if "/secrets" in path] == []


def test_a_deployment_that_is_missing_or_not_ready_is_named(audit: Audit) -> None:
    objects = cluster()
    one(objects, "Deployment")["status"] = {}

    code, out, _ = platform(audit, objects)
    assert code == 1
    assert "deployment/trainyard/platform-training-operator: 0 of 1 pods are ready" in out

    gone = [tree for tree in objects if tree["kind"] != "Deployment"]
    code, out, _ = platform(audit, gone)
    assert code == 1
    assert "deployment/trainyard/platform-training-operator: it does not exist\n" in out
    assert "   = help: helm upgrade platform charts/training-platform -n trainyard -f site.yaml\n" in out


def test_another_image_and_another_version_of_the_chart_are_named(audit: Audit) -> None:
    objects = cluster()
    one(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.example.com/old:1"
    config = next(tree for tree in objects if tree["metadata"]["name"] == "platform-run-values")
    config["metadata"]["labels"]["helm.sh/chart"] = "training-platform-0.1.0"

    code, out, _ = platform(audit, objects)

    assert code == 1
    assert "it runs registry.example.com/old:1, and the site says" in out
    assert "the cluster has training-platform-0.1.0, and this version of Trainyard has training-platform-" in out


def test_devices_labels_and_quotas_are_compared_with_the_nodes(audit: Audit) -> None:
    objects = [tree for tree in cluster() if tree["kind"] != "Node"]

    code, out, _ = platform(audit, [*objects, node("node-1", gpus=8)])
    assert code == 1
    assert "the quotas sum up to 16 nvidia.com/gpu, and its 1 nodes offer 8" in out

    _, out, _ = platform(audit, [*objects, node("node-1", gpus=0), node("node-2", gpus=0)])
    assert "resource/nvidia.com/gpu: no node offers nvidia.com/gpu" in out
    assert "   = note: the site requires it: site.yaml:11:" in out

    _, out, _ = platform(audit, [*objects, node("node-1", gpu="a100")])
    assert "resourceflavor/h100: no node has the labels of the flavour: gpu=h100" in out

    bare = node("node-3")
    del bare["metadata"]["labels"]["example.com/rack"]
    _, out, _ = platform(audit, [*objects, node("node-1"), node("node-2"), bare])
    assert "1 of 3 nodes lack the topology label example.com/rack, such as node-3" in out


def test_a_storage_class_that_is_missing_is_named_with_those_that_exist(audit: Audit) -> None:
    objects = cluster()
    one(objects, "StorageClass")["metadata"]["name"] = "local"

    code, out, _ = platform(audit, objects)

    assert code == 1
    assert "storageclass/shared-files: runs use this class, which does not exist" in out
    assert "   = help: write one of: local\n" in out


def test_a_cluster_without_kueue_is_told_what_to_install(audit: Audit) -> None:
    code, out, _ = platform(audit, cluster(), absent=("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2"))

    assert code == 1
    assert "Kueue" in out


def test_a_cluster_without_the_gang_scheduler_of_its_site_is_told_what_to_install(audit: Audit, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(SITE + "operator: {gangScheduler: {name: volcano}}\n")
    missing = (
        "api/scheduling.volcano.sh/v1beta1: the cluster does not serve PodGroups of volcano, so no gang of this site"
    )

    code, out, _ = platform(audit, cluster(), absent=("kueue.x-k8s.io/v1beta2", "scheduling.volcano.sh/v1beta1"))
    assert code == 1
    assert missing in out
    assert "   = note: the site requires it: site.yaml:12:27\n   = help: install volcano, then restart" in out

    _, out, _ = platform(audit, cluster())
    assert missing not in out


def test_a_release_elsewhere_is_one_problem(audit: Audit) -> None:
    code, out, _ = platform(audit, cluster(), "--release", "site", "-n", "ml")

    assert code == 1
    assert out.count("release/ml/site: the release `site` is not in namespace `ml`\n") == 1
    assert "it does not exist" not in out


def test_kinds_that_the_user_may_not_read_are_notes_and_no_problems(audit: Audit) -> None:
    code, out, err = platform(audit, cluster(), closed=("nodes", "deployments"))

    assert code == 0
    assert "note: nodes are not checked: the user may not `list` them\n" in err
    assert "note: deployments are not checked in namespace trainyard: the user may not `get` them\n" in err
    assert "fulfils" in out


def test_json_has_the_problems_and_their_places(audit: Audit) -> None:
    objects = [tree for tree in cluster() if tree["kind"] != "StorageClass"]

    code, out, _ = platform(audit, objects, "--output-format", "json")

    found = json.loads(out)
    assert code == 1
    assert [(problem["subject"], problem["site"]) for problem in found["problems"]] == [
        ("storageclass/shared-files", "site.yaml:2:3")
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--release", "x"], "--release names the release of the platform"),
        (["--platform", "none.yaml"], "a site is the values of charts/training-platform"),
        (["--platform", "site.yaml", "-n", "a", "-n", "b"], "a release has one namespace"),
        (["--platform", "site.yaml", "--output-format", "sarif"], "the formats are text and json"),
        (["--platform", "site.yaml", "-n", "Not_A_Name"], "is not a valid name"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_to_write(audit: Audit, options: list[str], message: str) -> None:
    code, out, err = audit(ApiServer(), *options)

    assert (code, out) == (2, "")
    assert message in err


def test_a_dead_api_server_is_one_line(audit: Audit) -> None:
    server = ApiServer()
    kubeconfig = server.kubeconfig(audit.folder)
    server.stop()

    code, out, err = audit.on(kubeconfig, "--platform", "site.yaml")

    assert (code, out) == (2, "")
    assert err.startswith("Error: the cluster at http://127.0.0.1:")
    assert len(err.splitlines()) == 1
