"""The pins of the Go tools: those that share packages share versions, so that each package is compiled once."""

from __future__ import annotations

import re

import pytest
import yaml

from tests.harness.cluster import tools
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import CHARTS

# Those that `make test` builds, except `pause`, which imports nothing.
BUILT = (
    "actionlint",
    "cni-plugins",
    "controller-gen",
    "coredns",
    "device-plugin",
    "etcd",
    "helm",
    "helm-docs",
    "helm-unittest",
    "helm-values-schema-json",
    "helm4",
    "kind",
    "kubeconform",
    "kubeflow-trainer",
    "kubernetes",
    "kueue",
    "local-path-provisioner",
    "mpi-operator",
    "multus",
    "prometheus",
    "scheduler-plugins",
    "training-operator",
    "vale",
    "whereabouts",
)
# Kueue and the plugins contain the scheduler of Kubernetes 1.36, and Trainer's API a type that 1.37 removes.
OF_KUBERNETES_1_36 = ("kubeflow-trainer", "kueue", "scheduler-plugins")
# Of them, the modules that are released with Kubernetes, or that its API server calls.
RELEASED_WITH_KUBERNETES = re.compile(
    r"k8s\.io/(?!klog/|kube-openapi$|utils$)\S+|github\.com/google/cel-go|go\.etcd\.io/etcd/\S+"
)
# etcd is older than the client of Kubernetes, as CONTRIBUTING.md explains. Kueue is built with the APIs of the jobs of
# its release, and each operator with the types of Volcano in its release. Helm 4 needs a newer controller-runtime than
# Trainer, Kueue and the operators compile with. CoreDNS needs newer modules than kubeadm, which has its configuration.
# actionlint needs a preview of its YAML library.
APART = {
    ("actionlint", "go.yaml.in/yaml/v4"),
    ("coredns", "github.com/coredns/caddy"),
    ("etcd", "go.etcd.io/etcd/api/v3"),
    ("etcd", "go.etcd.io/etcd/client/pkg/v3"),
    ("etcd", "go.etcd.io/etcd/client/v3"),
    ("helm4", "sigs.k8s.io/controller-runtime"),
    ("kubeflow-trainer", "volcano.sh/apis"),
    ("kueue", "github.com/kubeflow/trainer/v2"),
    ("kueue", "github.com/kubeflow/training-operator"),
    ("training-operator", "sigs.k8s.io/scheduler-plugins"),
    ("training-operator", "volcano.sh/apis"),
}


def pins(tool: str) -> dict[str, str]:
    """Version of each module in a tool's go.mod."""
    text = (tools.FOLDER / tool / "go.mod").read_text()
    return dict(re.findall(r"^\s*(?:require )?(\S+) (v\S+)", text, re.MULTILINE))


def test_tools_that_share_packages_pin_one_version_of_each_module() -> None:
    found: dict[tuple[str, bool], dict[str, str]] = {}
    for tool in BUILT:
        for module, version in pins(tool).items():
            # A module of Kubernetes' own repository has its version in a `replace`.
            if (tool, module) not in APART and version != "v0.0.0":
                is_older = tool in OF_KUBERNETES_1_36 and RELEASED_WITH_KUBERNETES.fullmatch(module) is not None
                found.setdefault((module, is_older), {})[tool] = version

    assert any(len(versions) > 1 for versions in found.values())
    assert {module: versions for (module, _), versions in found.items() if len(set(versions.values())) > 1} == {}


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
