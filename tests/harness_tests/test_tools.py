"""The pins of the Go tools: those that share packages share versions, so that each package is compiled once."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.harness.cluster import tools
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import CHARTS

# By the version of Kubernetes' modules that they are built with.
OF_THE_CLUSTER = ("cni-plugins", "coredns", "device-plugin", "etcd", "kubernetes", "local-path-provisioner")
# They need newer modules than the cluster is built with.
OF_CONTROLLERS = ("kubeflow-trainer", "kueue", "mpi-operator", "multus", "scheduler-plugins", "whereabouts")
OF_DEVELOPERS = ("helm", "helm-unittest", "helm4", "prometheus")
# etcd is older than the client of Kubernetes, as CONTRIBUTING.md explains. Kueue is built with the API of the Trainer
# that it was released with. Trainer's CRDs contain a type of Volcano, as in its release. CoreDNS needs newer modules of
# DNS than kubeadm, which reads its configuration, and the local-path provisioner.
APART = {
    ("coredns", "github.com/coredns/caddy"),
    ("coredns", "github.com/miekg/dns"),
    ("etcd", "go.etcd.io/etcd/api/v3"),
    ("etcd", "go.etcd.io/etcd/client/pkg/v3"),
    ("etcd", "go.etcd.io/etcd/client/v3"),
    ("kueue", "github.com/kubeflow/trainer/v2"),
    ("kubeflow-trainer", "volcano.sh/apis"),
}


def pins(tool: str) -> dict[str, str]:
    """Version of each module in a tool's go.mod."""
    text = (tools.FOLDER / tool / "go.mod").read_text()
    return dict(re.findall(r"^\s*(?:require )?(\S+) (v\S+)", text, re.MULTILINE))


@pytest.mark.parametrize(
    "family",
    [OF_THE_CLUSTER, OF_CONTROLLERS, OF_DEVELOPERS],
    ids=["of the cluster", "of controllers", "of developers"],
)
def test_tools_that_share_packages_pin_one_version_of_each_module(family: tuple[str, ...]) -> None:
    found: dict[str, dict[str, str]] = {}
    for tool in family:
        for module, version in pins(tool).items():
            if (tool, module) not in APART:
                found.setdefault(module, {})[tool] = version

    assert any(len(versions) > 1 for versions in found.values())
    assert {module: versions for module, versions in found.items() if len(set(versions.values())) > 1} == {}


# Of Trainer, which needs a newer one.
@pytest.mark.parametrize(
    "chart", sorted(chart.name for chart in CHARTS.glob("training-*") if "runtimes" not in chart.name)
)
def test_the_oldest_kubernetes_is_the_one_that_charts_require(chart: str) -> None:
    required = yaml.safe_load((CHARTS / chart / "Chart.yaml").read_text())["kubeVersion"]
    release, minor, _ = tools.module_version(tools.KUBERNETES["oldest"]).split(".")
    assert required == f">={release.removeprefix('v')}.{minor}.0-0"


def test_another_kubernetes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINYARD_KUBERNETES", "1.30")
    with pytest.raises(ClusterError, match=r"no Kubernetes is called '1\.30'") as refused:
        tools.kubernetes()
    assert refused.value.hint == "TRAINYARD_KUBERNETES=newest|oldest"
