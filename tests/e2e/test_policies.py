"""The policies for GPUs and RDMA on an API server with the operators' kinds, installed by Helm."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts import helm as charts
from tests.harness.cluster import api, loading
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs import dry_run, operator_crds, pods
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.helm import CHARTS, Helm

RELEASE = CHART = "gpu-rdma-policy"
NAMESPACE = "gpu-operator"
NAMESPACES = (NAMESPACE, "nvidia-network-operator")
IB, ROCE = (CHARTS / CHART / "ci" / f"onprem-{link}-values.yaml" for link in ("ib", "roce"))
CLUSTER_POLICY = ("nvidia.com/v1", "ClusterPolicy", "cluster-policy")
NIC_CLUSTER_POLICY = ("mellanox.com/v1alpha1", "NicClusterPolicy", "nic-cluster-policy")
# Takes the place of NVIDIA's chart, which is not part of the project.
OPERATOR = """
apiVersion: v1
kind: ConfigMap
metadata: {name: operator}
data: {makesPolicy: "{{ .Values.clusterPolicy.deployCR }}"}
"""
# The path of the file in DCGM exporter's pods, as the ClusterPolicy names it.
FILE = "/etc/dcgm-exporter/dcgm-metrics.csv"


@pytest.fixture(scope="module")
def operators(cluster: Cluster, connection: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The operators' kinds and namespaces, as if the operators were installed."""
    files = operator_crds.write_documented(CHARTS.parent, tmp_path_factory.mktemp("definitions"))
    for name in NAMESPACES:
        namespaces.create(cluster.kubeconfig, name)
    with operator_crds.served(cluster, files):
        connection.resources.invalidate_cache()
        yield
    connection.resources.invalidate_cache()
    for name in NAMESPACES:
        namespaces.delete(cluster.kubeconfig, name)


@pytest.fixture
def helm(cluster: Cluster) -> Iterator[Helm]:
    """Helm on the cluster; the release is removed at the end."""
    program = Helm(cluster.kubeconfig)
    yield program
    program.uninstall(RELEASE, namespace=NAMESPACE)


def specs(helm: Helm, connection: Any) -> dict[str, tuple[Any, Any]]:
    """Return each policy's spec by kind and name: as Helm sent it, and as the API server stores it."""
    found = {}
    for sent in yaml.safe_load_all(helm.run("get", "manifest", RELEASE, "--namespace", NAMESPACE)):
        if sent["kind"] != "ConfigMap":
            metadata = sent["metadata"]
            held = api.find(connection, sent["apiVersion"], sent["kind"], metadata["name"], metadata.get("namespace"))
            found[f"{sent['kind']}/{metadata['name']}"] = (sent["spec"], held and held.to_dict()["spec"])
    return found


def identity(connection: Any) -> str | None:
    """Return the ClusterPolicy's UID, which a recreated one does not keep; None if there is none."""
    found = api.find(connection, *CLUSTER_POLICY)
    return found and str(found.metadata.uid)


def exporter(image: str, config_map: str) -> dict[str, Any]:
    """Return a DaemonSet that mounts the metrics file as the GPU operator does for DCGM exporter."""
    mounted = {"volumeMounts": [{"name": "metrics", "mountPath": FILE, "subPath": "dcgm-metrics.csv"}]}
    volumes = [{"name": "metrics", "configMap": {"name": config_map}}]
    spec = pods.restricted(image, ["sleep", "infinity"], container=mounted, volumes=volumes)
    labels = {"app": "exporter"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "exporter", "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def running(connection: Any) -> dict[str, int]:
    """Return the Ready pods of the DaemonSet, with the restarts of each."""
    found = api.objects(connection, "v1", "Pod", namespace=NAMESPACE, label_selector="app=exporter")
    statuses = {pod.metadata.uid: pod.status.containerStatuses for pod in found if pod.status.containerStatuses}
    return {uid: status.restartCount for uid, (status,) in statuses.items() if status.ready}


def test_installation_without_the_operators_fails_and_names_what_to_install(cluster: Cluster, connection: Any) -> None:
    connection.resources.invalidate_cache()
    assert connection.resources.search(kind="ClusterPolicy") == []

    with pytest.raises(ClusterError, match=r"the cluster does not serve .*: install NVIDIA's .* operator first"):
        Helm(cluster.kubeconfig).install(RELEASE, CHART, namespace=NAMESPACE, values=[IB])


def site_chart(folder: Path, definition: Path) -> Path:
    """Write a chart with an operator and its policies as dependencies, as the README of the chart does."""
    operator = {"apiVersion": "v2", "name": "gpu-operator", "version": "26.7.0"}
    policies = yaml.safe_load((CHARTS / CHART / "Chart.yaml").read_text())
    site = {
        "apiVersion": "v2",
        "name": "site",
        "version": "0.1.0",
        "dependencies": [{"name": part["name"], "version": part["version"]} for part in (operator, policies)],
    }
    values = {"gpu-operator": {"clusterPolicy": {"deployCR": False}}, CHART: yaml.safe_load(IB.read_text())}
    values[CHART]["network"] = {"enabled": False}
    place = folder / "charts" / "gpu-operator"
    for name in ("crds", "templates"):
        (place / name).mkdir(parents=True)
    (folder / "Chart.yaml").write_text(yaml.safe_dump(site))
    (folder / "values.yaml").write_text(yaml.safe_dump(values))
    (place / "Chart.yaml").write_text(yaml.safe_dump(operator))
    (place / "templates" / "configmap.yaml").write_text(OPERATOR)
    shutil.move(definition, place / "crds")
    shutil.copytree(CHARTS / CHART, folder / "charts" / CHART)
    return folder


def test_an_operator_is_installed_with_its_policy_in_one_release(
    cluster: Cluster, connection: Any, tmp_path: Path
) -> None:
    helm = Helm(cluster.kubeconfig)
    files = {file.stem: file for file in operator_crds.write_documented(CHARTS.parent, tmp_path)}
    definition = files["clusterpolicies.nvidia.com"]
    chart = site_chart(tmp_path / "site", definition)
    namespaces.create(cluster.kubeconfig, NAMESPACE)
    try:
        connection.resources.invalidate_cache()
        assert connection.resources.search(kind="ClusterPolicy") == []
        for upgrade in (False, True):
            helm.install(RELEASE, str(chart), namespace=NAMESPACE, upgrade=upgrade)
        connection.resources.invalidate_cache()
        assert identity(connection)
        operator = api.find(connection, "v1", "ConfigMap", "operator", NAMESPACE)
        assert operator is not None
        assert operator.data.makesPolicy == "false"

        helm.uninstall(RELEASE, namespace=NAMESPACE)
        assert identity(connection) is None
    finally:
        helm.uninstall(RELEASE, namespace=NAMESPACE)
        api.kubectl(cluster.kubeconfig, "delete", "--ignore-not-found", "crd", definition.stem)
        connection.resources.invalidate_cache()
        namespaces.delete(cluster.kubeconfig, NAMESPACE)


def test_the_exporter_keeps_running_while_policies_are_upgraded_rolled_back_and_uninstalled(
    operators: None, helm: Helm, cluster: Cluster, engine: Engine, connection: Any
) -> None:
    def file() -> str:
        held = api.find(connection, *CLUSTER_POLICY)
        assert held is not None
        return str(held.spec.dcgmExporter.config.name)

    helm.install(RELEASE, CHART, namespace=NAMESPACE, values=[IB])
    first = specs(helm, connection)
    assert set(first) == {"ClusterPolicy/cluster-policy", "NicClusterPolicy/nic-cluster-policy"}
    assert all(sent == held for sent, held in first.values())
    assert helm.run("get", "hooks", RELEASE, "--namespace", NAMESPACE) == ""

    policy, whole = identity(connection), file()
    api.apply(cluster.kubeconfig, exporter(loading.load(cluster, engine, "whereabouts"), whole))
    workers = len(cluster.workers)
    api.wait_until(lambda: len(running(connection)) == workers, what="the exporter on every node", seconds=120)
    before = running(connection)
    assert set(before.values()) == {0}
    text = api.kubectl(cluster.kubeconfig, "-n", NAMESPACE, "exec", "daemonset/exporter", "--", "cat", FILE)
    rows = list(csv.reader(text.splitlines(), skipinitialspace=True))
    assert ["DCGM_EXP_XID_ERRORS_COUNT", "gauge", "XID errors of the last five minutes"] in rows
    assert {len(row) for row in rows} == {3}

    fewer = {"dcgm.metrics": [{"field": "DCGM_FI_DEV_GPU_UTIL", "type": "gauge", "help": "other"}]}
    helm.install(RELEASE, CHART, namespace=NAMESPACE, values=[ROCE], settings=fewer, upgrade=True)
    second = specs(helm, connection)
    assert {"SriovNetworkNodePolicy/roce-1", "SriovNetwork/roce-1", "SriovNetworkPoolConfig/gpu"} <= set(second)
    assert all(sent == held for sent, held in second.values())
    assert file() != whole
    # Neither the policy nor a pod is recreated; for the operators a recreated policy would be a removal of the first.
    assert identity(connection) == policy
    assert running(connection) == before

    helm.run("rollback", RELEASE, "1", "--namespace", NAMESPACE)
    assert specs(helm, connection) == first
    assert identity(connection) == policy
    assert file() == whole
    assert api.objects(connection, "sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy") == []
    assert running(connection) == before

    helm.uninstall(RELEASE, namespace=NAMESPACE)
    assert identity(connection) is None
    assert api.find(connection, *NIC_CLUSTER_POLICY) is None
    assert running(connection) == before
    assert [found for found in namespaces.contents(cluster.kubeconfig, NAMESPACE) if RELEASE in found] == []
    api.kubectl(cluster.kubeconfig, "-n", NAMESPACE, "delete", "daemonset", "exporter")


def test_kept_policies_outlive_the_release_and_the_next_release_adopts_them(
    operators: None, helm: Helm, cluster: Cluster, connection: Any
) -> None:
    helm.install(RELEASE, CHART, namespace=NAMESPACE, values=[IB], settings={"keep": True})
    policy = identity(connection)
    assert policy

    helm.uninstall(RELEASE, namespace=NAMESPACE)
    assert identity(connection) == policy

    helm.install(RELEASE, CHART, namespace=NAMESPACE, values=[IB])
    assert identity(connection) == policy
    helm.uninstall(RELEASE, namespace=NAMESPACE)
    assert identity(connection) is None


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("updateStrategy: RollingUpdate", "updateStrategy: Sometimes", 'Unsupported value: "Sometimes"'),
        ("kernelModuleType: open", "kernelModules: open", ".spec.driver.kernelModules: field not declared in schema"),
        ("ofedDriver:", "ofedDrivers:", ".spec.ofedDrivers: field not declared in schema"),
        ("safeLoad: true", "safeLoad: certainly", "expected boolean"),
    ],
)
def test_the_api_server_rejects_fields_that_the_operators_do_not_know(
    operators: None, connection: Any, right: str, wrong: str, message: str
) -> None:
    text = charts.manifests("helm", CHART, IB.name)
    assert right in text
    assert dry_run.refusals(connection, charts.objects(text)) == []

    said = dry_run.refusals(connection, charts.objects(text.replace(right, wrong)))

    assert any(message in line for line in said), said
