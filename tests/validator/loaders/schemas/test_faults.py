"""Objects without a finding: patches, stored objects, placeholders, and what may be right in another release."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from trainyard.document.document import Document
from trainyard.document.source import Source
from trainyard.loaders.manifests.manifest import load_project
from trainyard.loaders.schemas.partial import is_patched

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: gateway}
spec:
  replicas: 4
"""


def faults(text: str, name: str = "a.yaml") -> list[tuple[str, str]]:
    """Return fault and message of each misfit."""
    tree: dict[str, Any] = yaml.safe_load(text)
    found = load_project([Document(Source(name, text), 0, tree, ())]).misfits
    return [(misfit.fault, misfit.message) for misfit in found]


def test_a_part_of_an_object_lacks_required_fields() -> None:
    assert faults(DEPLOYMENT) == [("missing field", "`spec` needs `selector`, `template`")]


@pytest.mark.parametrize("name", ["patches/gateway.yaml", "overlays/prod/gateway.yaml", "gateway-patch.yaml"])
def test_a_patch_has_no_required_fields(name: str) -> None:
    assert faults(DEPLOYMENT, name) == []


@pytest.mark.parametrize("name", ["kustomization.yaml", "chainsaw-test.yaml"])
def test_a_file_beside_a_kustomization_or_a_test_may_be_a_patch(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("resources: []\n", encoding="utf-8")
    assert faults(DEPLOYMENT, str(tmp_path / "gateway.yaml")) == []


@pytest.mark.parametrize("name", ["e2e/01-assert.yaml", "e2e/02-errors.yaml", "assert-replicas.yaml"])
def test_a_file_that_a_test_compares_is_no_object(name: str) -> None:
    text = DEPLOYMENT + "  (replicas > `1`): true\n  paused: ($paused)\n"
    assert faults(text, name) == []
    assert faults(text, "e2e/01-install.yaml") != []


def test_a_patch_has_no_unknown_fields() -> None:
    assert [fault for fault, _ in faults(f"{DEPLOYMENT}  replica: 3\n", "patch.yaml")] == ["unknown field"]


def test_an_item_that_a_patch_deletes_needs_no_fields() -> None:
    volumes = "volumes: [{$patch: delete}]"
    assert (
        faults(f"{DEPLOYMENT}  template: {{spec: {{{volumes}, $setElementOrder/volumes: []}}}}\n", "patch.yaml") == []
    )


def test_an_object_of_a_cluster_was_checked_by_its_api_server() -> None:
    assert faults(DEPLOYMENT.replace("{name: gateway}", "{name: gateway, uid: 6f0c}")) == []


@pytest.mark.parametrize("value", ["{{ .Values.replicas }}", "${REPLICAS}", "$(REPLICAS)", "<number of pods>"])
def test_a_placeholder_fits_every_field(value: str) -> None:
    assert faults(DEPLOYMENT.replace("4", f'"{value}"'), "patch.yaml") == []


def test_a_field_of_an_operator_may_be_of_another_release() -> None:
    text = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {name: a}\nspec: {quotas: []}\n"
    assert [fault for fault, _ in faults(text)] == ["other release"]
    assert [fault for fault, _ in faults(text.replace("quotas: []", "clusterqueue: a"))] == ["unknown field"]


def test_a_field_of_an_unknown_kind_may_be_its_own() -> None:
    pod = "{containers: [{name: a, image: b, budget: 1}]}"
    text = f"apiVersion: x.example.com/v1\nkind: Run\nmetadata: {{name: a}}\nspec: {{template: {{spec: {pod}}}}}\n"
    assert [fault for fault, _ in faults(text)] == ["other release"]
    assert [fault for fault, _ in faults(text.replace("budget", "workingdir"))] == ["unknown field"]


def test_many_faults_are_described_in_part() -> None:
    names = "\n".join(f"  name{number}: 1" for number in range(3_000))
    assert len(faults(f"{DEPLOYMENT}{names}\n")) == 1_000


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("resources: [cache]\n", False),
        ("vars: [{name: cache}]\n", True),
        ("vars: [{name: other}]\n", False),
        ("patches: [{path: volume.yaml}]\n", True),
        ("patches: [{path: image.yaml}]\n", False),
        ("patches: [{path: absent.yaml}]\n", True),
        ("components: [../cache]\n", True),
        ("patches: [{patch: '[{op: replace, path: /spec/template/spec/containers/0, value: {}}]'}]\n", True),
        ("patches: [{patch: '[{op: add, path: /spec/template/spec/containers/0/image, value: a}]'}]\n", False),
    ],
)
def test_a_kustomization_changes_what_its_patches_name(tmp_path: Path, text: str, changes: bool) -> None:
    (tmp_path / "kustomization.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "volume.yaml").write_text("spec: {volumes: [{name: cache}]}\n", encoding="utf-8")
    (tmp_path / "image.yaml").write_text("spec: {containers: [{name: a, image: b}]}\n", encoding="utf-8")
    assert is_patched(Document(Source(str(tmp_path / "a.yaml"), DEPLOYMENT), 0, {}, ()), "cache") is changes


def test_a_kustomization_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kustomization.yaml")
    assert not is_patched(Document(Source(str(tmp_path / "a.yaml"), DEPLOYMENT), 0, {}, ()), "cache")
