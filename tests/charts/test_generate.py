"""The generators: their output passes their check, and a difference is reported with the command that fixes it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.charts.helm import ROOT
from tests.harness.cluster import modules
from tests.harness.cluster.errors import ClusterError
from tools.generate import crd_schemas


def generate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.generate", "--root", str(root), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the generated files and their sources, up to date. Tests change copies of it."""
    folder = copied(ROOT, tmp_path_factory.mktemp("repository"))
    result = generate(folder)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture
def repository(generated: Path, tmp_path: Path) -> Path:
    """A copy for one test."""
    return copied(generated, tmp_path)


def copied(root: Path, folder: Path) -> Path:
    for name in ("charts", "schemas"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(root / "LICENSE", folder / "LICENSE")
    return folder


def test_nothing_differs_after_generating(generated: Path) -> None:
    result = generate(generated, "--check")

    assert result.returncode == 0, result.stderr


def test_a_changed_comment_is_reported_for_every_file_that_contains_it(repository: Path) -> None:
    chart = repository / "charts" / "training-job"
    values, schema = chart / "values.yaml", chart / "values.schema.json"
    before = schema.read_text()
    text = values.read_text()
    values.write_text(text.replace("# -- Pull policy of the image.", "# -- When the image is pulled."))
    assert values.read_text() != text

    result = generate(repository, "--check")

    assert result.returncode == 1
    assert '-          "description": "Pull policy of the image.",' in result.stderr
    assert '+          "description": "When the image is pulled.",' in result.stderr
    assert "charts/training-job/README.md" in result.stderr
    assert "make generate" in result.stderr
    assert schema.read_text() == before

    assert generate(repository, "values").returncode == 0
    assert "When the image is pulled." in schema.read_text()
    assert generate(repository, "--check", "values").returncode == 0
    assert generate(repository, "--check", "readme").returncode == 1


def test_edited_removed_and_stale_files_are_restored(repository: Path) -> None:
    crds = repository / "charts" / "training-operator" / "files" / "crds"
    edited, removed = crds / "kubeflow.org_pytorchjobs.yaml", crds / "kubeflow.org_tfjobs.yaml"
    left_over = repository / "schemas" / "crds" / "kubeflow.org" / "xdljob_v1.json"
    copied = repository / "charts" / "training-job" / "charts" / "common" / "templates" / "_names.tpl"
    copied.write_text("")
    before = edited.read_text()
    edited.write_text(before.replace("kind: PyTorchJob", "kind: TorchJob"))
    removed.unlink()
    left_over.write_text("{}\n")

    checked = generate(repository, "--check")

    assert checked.returncode == 1
    assert "+    kind: PyTorchJob" in checked.stderr
    assert "kubeflow.org_tfjobs.yaml: is missing" in checked.stderr
    assert "xdljob_v1.json: is not generated any more" in checked.stderr
    assert "charts/training-job/charts/common/templates/_names.tpl" in checked.stderr
    assert left_over.exists()

    assert generate(repository).returncode == 0
    assert edited.read_text() == before
    assert removed.exists()
    assert copied.read_text() == (repository / "charts" / "common" / "templates" / "_names.tpl").read_text()
    assert not left_over.exists()


def test_a_module_that_no_tool_pins_is_refused_by_name() -> None:
    with pytest.raises(
        ClusterError, match=r"tests/harness/cluster/tools/helm-docs/go.mod does not resolve example.org/none"
    ):
        modules.source("helm-docs", "example.org/none")


def test_a_structural_schema_forbids_unlisted_properties_except_where_they_are_preserved() -> None:
    structural = {
        "type": "object",
        "description": "prose",
        "properties": {
            "closed": {"type": "object"},
            "kept": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {}}},
            "optional": {"type": "string", "nullable": True},
            "port": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
            "list": {"type": "array", "items": {"type": "object", "x-kubernetes-map-type": "atomic"}},
        },
    }

    assert crd_schemas.strict(structural) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "closed": {"type": "object", "additionalProperties": False},
            "kept": {"type": "object"},
            "map": {
                "type": "object",
                "additionalProperties": {"type": "object", "properties": {}, "additionalProperties": False},
            },
            "optional": {"type": ["string", "null"]},
            "port": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "list": {"type": "array", "items": {"type": "object", "additionalProperties": False}},
        },
    }
