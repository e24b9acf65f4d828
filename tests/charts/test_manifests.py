"""The objects of every chart are valid in every scenario of its ci folder, rendered by Helm 3 and Helm 4."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.charts.helm import CHARTS, HELMS, SCENARIOS, helm, manifests, objects, template
from tests.charts.kubeconform import kubeconform, verdicts
from tests.harness.cluster.tools import module_version

SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: rendezvous}
spec: {ports: [{port: 23456, targetPort: rendezvous}]}
"""
PYTORCHJOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: run-42, labels: {team: vision}}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      template:
        metadata: {labels: {team: vision}}
        spec:
          containers:
            - {name: pytorch, image: trainer, resources: {limits: {cpu: 500m, memory: 1Gi}, requests: {cpu: 1}}}
"""


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize(("chart", "scenario"), SCENARIOS)
def test_helm_lint_has_no_findings(name: str, chart: str, scenario: str | None) -> None:
    files = [] if scenario is None else ["--values", str(CHARTS[chart] / "ci" / scenario)]

    result = helm(name, "lint", "--strict", "--kube-version", module_version("kubernetes"), CHARTS[chart], *files)

    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The verdicts of kubeconform on the objects of each scenario, by the name of its file."""
    folder = tmp_path_factory.mktemp("manifests")
    for chart, scenario in SCENARIOS:
        (folder / f"{chart}.{scenario}.yaml").write_text(manifests("helm", chart, scenario))
    return verdicts(folder)


@pytest.mark.parametrize(("chart", "scenario"), SCENARIOS)
def test_every_object_is_valid_by_its_schema(chart: str, scenario: str | None, judged: dict[str, list[str]]) -> None:
    assert judged[f"{chart}.{scenario}.yaml"] == ["statusValid"] * len(objects(manifests("helm", chart, scenario)))


@pytest.mark.parametrize(("chart", "scenario"), SCENARIOS)
def test_both_helms_render_the_same_objects(chart: str, scenario: str | None) -> None:
    rendered = [objects(manifests(name, chart, scenario)) for name in HELMS]
    for found in (*rendered[0], *rendered[1]):
        if "stringData" in found:
            # The preflight generates a new key for each rendering.
            found["stringData"] = sorted(found["stringData"])

    def sort_key(found: dict[str, object]) -> str:
        return f"{found['kind']} {found['metadata']}"

    assert sorted(rendered[0], key=sort_key) == sorted(rendered[1], key=sort_key)


@pytest.mark.parametrize("chart", CHARTS)
def test_every_scenario_begins_with_a_comment_on_its_purpose(chart: str) -> None:
    scenarios = list(CHARTS[chart].glob("ci/*-values.yaml"))

    assert scenarios
    assert all(path.read_text().startswith("# ") for path in scenarios)


@pytest.mark.parametrize("name", HELMS)
@pytest.mark.parametrize("chart", CHARTS)
def test_the_package_is_complete_and_has_no_tests(name: str, chart: str, tmp_path: Path) -> None:
    packaged = helm(name, "package", CHARTS[chart], "--destination", tmp_path)
    assert packaged.returncode == 0, packaged.stderr

    (archive,) = tmp_path.glob("*.tgz")
    with tarfile.open(archive) as package:
        files = {member.name.removeprefix(f"{chart}/") for member in package}

    assert template(name, archive).stdout.count("kind:") == manifests(name, chart).count("kind:")
    assert {"charts/common/Chart.yaml", "values.schema.json", "README.md"} <= files
    assert not [file for file in files if file.startswith(("tests/", "ci/", ".")) or file.endswith(".gotmpl")]


@pytest.mark.parametrize("manifest", [SERVICE, PYTORCHJOB])
def test_kubeconform_accepts_a_valid_object(manifest: str) -> None:
    result = kubeconform(manifest)

    assert result.returncode == 0, result.stdout + result.stderr
    assert "Valid: 1" in result.stdout


@pytest.mark.parametrize(
    ("manifest", "right", "wrong", "message"),
    [
        (SERVICE, "{port: 23456,", "{prot: 23456,", "additional properties 'prot' not allowed"),
        (SERVICE, "port: 23456", "port: many", "got string, want integer"),
        (SERVICE, "targetPort: rendezvous", "targetPort: [1]", "got array, want integer or string"),
        (SERVICE, "apiVersion: v1", "apiVersion: v2", "could not find schema for Service"),
        (PYTORCHJOB, "replicas: 1", "replica: 1", "additional properties 'replica' not allowed"),
        (PYTORCHJOB, "replicas: 1", "replicas: two", "got string, want integer"),
        (PYTORCHJOB, "image: trainer", "imgae: trainer", "additional properties 'imgae' not allowed"),
        (PYTORCHJOB, "cpu: 500m", "cpu: 500 millis", "does not match pattern"),
        (PYTORCHJOB, "labels: {team: vision}}\nspec", "lables: {team: vision}}\nspec", "'lables' not allowed"),
        (PYTORCHJOB, "kubeflow.org/v1", "example.org/v1", "could not find schema for PyTorchJob"),
        (PYTORCHJOB, "replicas: 1", "replicas: 1\n      replicas: 2", 'key "replicas" already set'),
    ],
)
def test_kubeconform_rejects_an_invalid_object(manifest: str, right: str, wrong: str, message: str) -> None:
    assert right in manifest

    result = kubeconform(manifest.replace(right, wrong))

    assert result.returncode == 1
    assert message in result.stdout


@pytest.mark.parametrize(
    ("scenario", "right", "wrong", "message"),
    [
        ("onprem-ib", "strategy: none", "strategy: some", "value must be one of 'none', 'single', 'mixed'"),
        ("onprem-ib", "kernelModuleType: open", "useOpenModules: true", "'useOpenModules' not allowed"),
        ("onprem-ib", "ofedDriver:", "mofedDriver:", "additional properties 'mofedDriver' not allowed"),
        ("onprem-ib", "safeLoad: true", 'safeLoad: "true"', "got string, want boolean"),
        ("onprem-ib", "image: doca-driver", "name: doca-driver", "missing property 'image'"),
        ("pools", "kind: NicNodePolicy\n", "kind: NicPoolPolicy\n", "could not find schema for NicPoolPolicy"),
        ("pools", "linkType: ib", "linkType: infiniband", "value must be one of 'eth', 'ETH', 'ib', 'IB'"),
        ("pools", "linkState: enable", "linkState: up", "value must be one of 'auto', 'enable', 'disable'"),
        ("onprem-roce", 'trust: "on"', "trust: sometimes", "value must be one of 'on', 'off'"),
        ("onprem-roce", 'rdmaMode: "exclusive"', 'rdmaMode: "private"', "value must be one of 'shared', 'exclusive'"),
        ("onprem-roce", "numVfs: 8", "numVFs: 8", "missing property 'numVfs'"),
        ("onprem-roce", "op: InRegexp", "op: Matches", "value must be one of 'In', 'NotIn', 'InRegexp'"),
    ],
)
def test_kubeconform_rejects_an_invalid_policy(scenario: str, right: str, wrong: str, message: str) -> None:
    manifest = manifests("helm", "gpu-rdma-policy", f"{scenario}-values.yaml")
    assert right in manifest

    result = kubeconform(manifest.replace(right, wrong))

    assert result.returncode == 1
    assert message in result.stdout
