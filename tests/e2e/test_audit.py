"""The audit of a live cluster: it finds faults with the documented role, and names permissions that are missing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.jobs import account
from tests.harness.jobs.helm import Helm
from trainyard.commands.audit import objects

PAGE = Path(__file__).parents[2] / "docs" / "validator" / "audit.md"
# Kinds that this cluster does not serve: their operators need hardware, or are not part of this project.
ABSENT = ("TrainJob", "JobSet", "NetworkAttachmentDefinition", "ClusterPolicy", "LocalQueue")

RENDEZVOUS = ("--rdzv-backend=c10d", "--rdzv-endpoint=rendezvous:29400")


def pytorch_job(name: str, switch: str) -> dict[str, Any]:
    """Return a suspended job without pods, like one that Kueue has not admitted yet."""
    container = {
        "name": "pytorch",
        "image": "registry.example.com/team/llm:1.4",
        "command": ["torchrun", "--nnodes=2", "--nproc-per-node=1", *RENDEZVOUS, "train.py"],
        "env": [{"name": "NCCL_SHM_DISABLE", "value": switch}],
        "envFrom": [{"configMapRef": {"name": "nccl"}}],
    }
    template = {"spec": {"containers": [container]}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "labels": {"kueue.x-k8s.io/queue-name": "research"}},
        "spec": {
            "runPolicy": {"suspend": True, "backoffLimit": 20},
            "pytorchReplicaSpecs": {"Worker": {"replicas": 2, "restartPolicy": "OnFailure", "template": template}},
        },
    }


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nccl"}, "data": {"NCCL_IB_DISABLE": "yes"}}
GOOD, BAD = pytorch_job("good", "0"), pytorch_job("bad", "no")


@pytest.fixture(scope="module")
def applied(cluster: Cluster, namespace: str) -> None:
    """A good job and a bad one, and the ConfigMap that both take variables from."""
    for manifest in (CONFIG_MAP, GOOD, BAD):
        api.kubectl(cluster.kubeconfig, "apply", "--namespace", namespace, "-f", "-", stdin=json.dumps(manifest))


@pytest.fixture
def role() -> dict[str, Any]:
    """The ClusterRole of the documentation."""
    tree: dict[str, Any] = yaml.safe_load(PAGE.read_text().split("```yaml\n")[1].split("```")[0])
    return tree


class Auditor:
    """A ServiceAccount that runs the audit."""

    def __init__(self, cluster: Cluster, namespace: str, folder: Path) -> None:
        self._admin = cluster.kubeconfig
        self._namespace = namespace
        self._kubeconfig = account.create(self._admin, "auditor", namespace, folder)

    def grant(self, role: dict[str, Any], binding: str = "clusterrolebinding") -> None:
        """Bind a ClusterRole to the account, in the cluster or with a RoleBinding in its namespace."""
        name = f"auditor-{self._namespace}"
        inside = ("--namespace", self._namespace) if binding == "rolebinding" else ()
        self._kubectl("apply", "-f", "-", stdin=json.dumps({**role, "metadata": {"name": name}}))
        subject = f"{self._namespace}:auditor"
        self._kubectl("create", binding, name, "--clusterrole", name, "--serviceaccount", subject, *inside)

    def remove(self) -> None:
        """Remove the account and its cluster-scoped objects."""
        name = f"auditor-{self._namespace}"
        self._kubectl("delete", "clusterrole,clusterrolebinding", name, "--ignore-not-found")
        self._kubectl("delete", "rolebinding", name, "--namespace", self._namespace, "--ignore-not-found")
        self._kubectl("delete", "serviceaccount", "auditor", "--namespace", self._namespace)

    def audit(self, *options: str) -> tuple[int, list[tuple[str, str]], list[str]]:
        """Run the audit; return the exit status, findings as path and rule, and notes."""
        words = ["audit", "--kubeconfig", str(self._kubeconfig), "--output-format", "json", *options]
        finished = subprocess.run(
            [sys.executable, "-m", "trainyard", *words], capture_output=True, text=True, timeout=60, check=False
        )
        findings = json.loads(finished.stdout)["findings"]
        found = [(finding["location"]["path"], finding["rule"]) for finding in findings]
        return finished.returncode, found, finished.stderr.splitlines()

    def _kubectl(self, *arguments: str, stdin: str = "") -> str:
        return api.kubectl(self._admin, *arguments, stdin=stdin)


@pytest.fixture
def auditor(cluster: Cluster, namespace: str, applied: None, tmp_path: Path) -> Iterator[Auditor]:
    """A ServiceAccount without permissions."""
    created = Auditor(cluster, namespace, tmp_path)
    yield created
    created.remove()


def test_the_documented_role_is_enough_for_the_whole_cluster(
    auditor: Auditor, role: dict[str, Any], namespace: str
) -> None:
    auditor.grant(role)
    code, found, notes = auditor.audit()
    assert code == 1
    assert [finding for finding in found if f"/{namespace}/" in finding[0]] == [
        (f"configmap/{namespace}/nccl", "NC005"),
        (f"pytorchjob/{namespace}/bad", "NC005"),
    ]
    assert len(notes) == 1
    assert all(kind in notes[0] for kind in ABSENT)


def test_a_missing_permission_is_named_and_the_rest_is_linted(
    auditor: Auditor, role: dict[str, Any], namespace: str
) -> None:
    kept = [rule for rule in role["rules"] if "configmaps" not in rule["resources"] and "jobs" not in rule["resources"]]
    auditor.grant({**role, "rules": kept}, "rolebinding")
    code, found, notes = auditor.audit("--namespace", namespace)
    assert (code, found) == (1, [(f"pytorchjob/{namespace}/bad", "NC005")])
    assert notes[1:] == [
        f"note: Job is skipped in namespace {namespace}: the user may not `list` `jobs.batch`",
        f"note: CronJob is skipped in namespace {namespace}: the user may not `list` `cronjobs.batch`",
        f"note: ConfigMap is skipped in namespace {namespace}: the user may not `get` `configmaps`",
    ]


def test_an_audit_without_any_permission_is_not_clean(auditor: Auditor, namespace: str) -> None:
    code, found, notes = auditor.audit("--namespace", namespace)
    assert (code, found) == (3, [(f"namespace/{namespace}", "HV007")])
    assert (
        f"note: PyTorchJob is skipped in namespace {namespace}: the user may not `list` `pytorchjobs.kubeflow.org`"
        in notes
    )


def test_a_live_job_without_defaults_equals_the_applied_one(connection: Any, applied: None, namespace: str) -> None:
    live = api.find(connection, "kubeflow.org/v1", "PyTorchJob", "good", namespace)
    assert live is not None
    assert objects.manifest(live.to_dict()) == {**GOOD, "metadata": {**GOOD["metadata"], "namespace": namespace}}


@pytest.fixture
def site(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[Path]:
    """The values of a platform without programs, which is installed."""
    file = tmp_path / "site.yaml"
    parts = {"operator": {"enabled": False}, "monitoring": {"enabled": True}}
    file.write_text(yaml.safe_dump({**parts, "runs": {"checkpoints": {"storageClassName": "shared"}}}))
    helm = Helm(cluster.kubeconfig)
    helm.install("site", "training-platform", namespace=namespace, values=[file])
    yield file
    helm.uninstall("site", namespace=namespace)


def platform(cluster: Cluster, namespace: str, site: Path) -> subprocess.CompletedProcess[str]:
    """Compare the cluster with a site."""
    command = [sys.executable, "-m", "trainyard", "audit", "--platform", str(site), "--release", "site"]
    command += ["--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_cluster_fulfils_its_site_until_the_site_asks_for_more(cluster: Cluster, namespace: str, site: Path) -> None:
    fulfilled = platform(cluster, namespace, site)
    assert (fulfilled.returncode, fulfilled.stderr) == (0, "")
    assert fulfilled.stdout.startswith("The cluster fulfils its site (")

    wanted = yaml.safe_load(site.read_text())
    wanted |= {"operator": {"enabled": True}, "fabric": {"resources": {"rdma/ib": 1}}}
    wanted["runs"]["checkpoints"]["storageClassName"] = "fast"
    site.write_text(yaml.safe_dump(wanted))
    found = platform(cluster, namespace, site)

    assert found.returncode == 1
    for line in (
        f"deployment/{namespace}/site-training-operator: it does not exist",
        "resource/rdma/ib: no node offers rdma/ib, which runs of this site request",
        "storageclass/fast: runs use this class, which does not exist",
    ):
        assert line in found.stdout
    assert "serviceaccount" in found.stdout
    assert "customresourcedefinition" not in found.stdout
