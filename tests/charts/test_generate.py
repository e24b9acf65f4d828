"""The generators: what they write is what they check, and a difference is named with what to run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import modules
from tests.cluster.errors import ClusterError
from tests.generate import crd_schemas

from .helm import ROOT


def generate(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.generate", "--root", str(root), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of what is generated and of its sources, as the generators leave it."""
    for name in ("charts", "schemas"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True)
    result = generate(tmp_path)
    assert result.returncode == 0, result.stderr
    return tmp_path


def test_nothing_differs_after_generating(repository: Path) -> None:
    result = generate(repository, "--check")

    assert result.returncode == 0, result.stderr


def test_a_changed_comment_is_found_in_every_file_that_it_reaches(repository: Path) -> None:
    chart = repository / "charts" / "training-job"
    values, schema = chart / "values.yaml", chart / "values.schema.json"
    before = schema.read_text()
    text = values.read_text()
    values.write_text(text.replace("# -- When a node pulls the image.", "# -- When the image is pulled."))
    assert values.read_text() != text

    result = generate(repository, "--check")

    assert result.returncode == 1
    assert '-          "description": "When a node pulls the image.",' in result.stderr
    assert '+          "description": "When the image is pulled.",' in result.stderr
    assert "charts/training-job/README.md" in result.stderr
    assert "make generate" in result.stderr
    assert schema.read_text() == before

    assert generate(repository, "values").returncode == 0
    assert "When the image is pulled." in schema.read_text()
    assert generate(repository, "--check", "values").returncode == 0
    assert generate(repository, "--check", "readme").returncode == 1


def test_files_that_are_edited_removed_or_left_over_are_put_right(repository: Path) -> None:
    crds = repository / "charts" / "training-operator" / "files" / "crds"
    edited, removed = crds / "kubeflow.org_pytorchjobs.yaml", crds / "kubeflow.org_tfjobs.yaml"
    left_over = repository / "schemas" / "crds" / "kubeflow.org" / "xdljob_v1.json"
    before = edited.read_text()
    edited.write_text(before.replace("kind: PyTorchJob", "kind: TorchJob"))
    removed.unlink()
    left_over.write_text("{}\n")

    checked = generate(repository, "--check")

    assert checked.returncode == 1
    assert "+    kind: PyTorchJob" in checked.stderr
    assert "kubeflow.org_tfjobs.yaml: is missing" in checked.stderr
    assert "xdljob_v1.json: has no source any more" in checked.stderr
    assert left_over.exists()

    assert generate(repository).returncode == 0
    assert edited.read_text() == before
    assert removed.exists()
    assert not left_over.exists()


def test_a_module_that_no_tool_pins_is_refused_by_name() -> None:
    with pytest.raises(
        ClusterError, match=r"tests/cluster/tools/helm-docs/go.mod gives no version of example.org/none"
    ):
        modules.source("helm-docs", "example.org/none")


def test_a_structural_schema_is_closed_except_where_the_server_keeps_what_it_does_not_know() -> None:
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
