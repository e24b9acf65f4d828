"""Copies of former releases, and values by which the tests of a chart render it, are not what a user installs."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainyard.cli import main

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ml\n"
NAMESPACE += "  labels: {pod-security.kubernetes.io/enforce: restricted}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ml}\nspec: {containers: [{name: a, image: b:1}]}\n"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports: [{name: web, port: 80}]\n"
INGRESS = """apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  defaultBackend: {service: {name: web, port: {{ toJson .Values.port }}}}
"""


def _lint(folder: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str]) -> str:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    main.main(["lint", str(folder)])
    return capsys.readouterr().out


@pytest.mark.parametrize("former", ["v1.2.0", "v1.3.0-rc0"])
def test_the_level_of_a_namespace_counts_for_the_newest_release_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], former: str
) -> None:
    found = _lint(tmp_path, capsys, dict.fromkeys((f"{former}/a.yaml", "v1.4.0/a.yaml"), f"{NAMESPACE}---\n{POD}"))
    assert "v1.4.0/a.yaml:10:28: error SM016" in found
    assert f"{former}/a.yaml:10:28" not in found


def test_values_of_the_tests_of_a_chart_may_name_any_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        "values.yaml": "port: {name: web}\n",
        "ci/port-values.yaml": "port: {name: other}\n",
        "templates/service.yaml": SERVICE,
        "templates/ingress.yaml": INGRESS,
    }
    assert "RF060" not in _lint(tmp_path, capsys, files)
    assert "RF060" in _lint(tmp_path, capsys, {**files, "values.yaml": "port: {name: other}\n"})


def test_the_source_of_a_claim_belongs_to_an_old_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kubernetes before 1.31 had the field, and the version of the template is as old."""
    template = "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaimTemplate\nmetadata: {name: gpu}\n"
    template += "spec: {spec: {resourceClassName: gpu.example.com}}\n"
    pod = POD.replace("spec: {", "spec: {resourceClaims: [{name: gpu, source: {}}], ")
    found = _lint(tmp_path, capsys, {"v1.30.0/a.yaml": f"{template}---\n{pod}"})
    assert "SM019" in found
    assert "SM001" not in found
    assert "SM001" in _lint(tmp_path / "new", capsys, {"a.yaml": pod})
