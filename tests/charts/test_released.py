"""Upgrades from the charts of the last release: an API server takes each object of today in place of the old one."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts.helm import CHARTS, RELEASE, helm, objects
from tests.harness import released
from tests.harness.released import PARTS, PLATFORM, PREFLIGHT, RUN

# Together, these have every part of that release.
SCENARIOS = [
    (PLATFORM, "kind-values.yaml"),
    (PLATFORM, "onprem-roce-values.yaml"),
    (PLATFORM, "trainer-values.yaml"),
    (RUN, "defaults-values.yaml"),
    (PREFLIGHT, "defaults-values.yaml"),
    (PREFLIGHT, "nccl-tests-values.yaml"),
]
# Fields that an API server refuses to change. Source: the validation of each kind in kubernetes/kubernetes, and the
# webhooks and rules of Kueue for Topology.
FIXED = {
    "Deployment": ("spec.selector",),
    "DaemonSet": ("spec.selector",),
    "StatefulSet": ("spec.selector", "spec.serviceName", "spec.volumeClaimTemplates", "spec.podManagementPolicy"),
    "Job": ("spec.selector", "spec.template", "spec.completionMode"),
    "RoleBinding": ("roleRef",),
    "ClusterRoleBinding": ("roleRef",),
    "PersistentVolumeClaim": ("spec.accessModes", "spec.storageClassName", "spec.volumeMode", "spec.volumeName"),
    "StorageClass": ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
    "PriorityClass": ("value", "preemptionPolicy"),
    "Service": ("spec.clusterIP",),
    "Topology": ("spec",),
}
# What is lost with the object that holds it.
KEPT = {"CustomResourceDefinition", "PersistentVolumeClaim", "Namespace", "Secret"}

Objects = dict[tuple[str, str, str], dict[str, Any]]


@pytest.mark.parametrize(("package", "scenario"), SCENARIOS, ids=lambda value: str(getattr(value, "stem", value)))
def test_an_upgrade_changes_no_field_that_is_fixed_and_deletes_no_data(package: Path, scenario: str) -> None:
    chart = CHARTS[package.name.rpartition("-")[0]]
    before, after = (_rendered(one, "--values", chart / "ci" / scenario) for one in (package, chart))

    assert before
    assert list(refused(before, after)) == []


@pytest.mark.parametrize("part", PARTS)
def test_an_upgrade_of_a_part_alone_changes_no_field_that_is_fixed_and_deletes_no_data(
    part: str, tmp_path: Path
) -> None:
    charts = (released.part(part, tmp_path), CHARTS[part])
    before, after = (_rendered(one, "--values", CHARTS[part] / "ci" / "defaults-values.yaml") for one in charts)

    assert before
    assert list(refused(before, after)) == []


def test_every_chart_of_the_release_has_a_package() -> None:
    """Charts of later releases are tested from the release after theirs."""
    with tarfile.open(PLATFORM) as archive:
        parts = {member.name.split("/")[2] for member in archive.getmembers() if "/charts/" in member.name}

    assert parts - {"common"} == set(PARTS)
    kept = {package.name.rpartition("-")[0] for package in released.FOLDER.glob("*.tgz")}
    assert kept | parts >= set(CHARTS) - {"node-health"}


def test_a_changed_selector_and_a_lost_claim_are_found() -> None:
    deployment = {"kind": "Deployment", "spec": {"selector": {"matchLabels": {"app": "old"}}}}
    changed = {"kind": "Deployment", "spec": {"selector": {"matchLabels": {"app": "new"}}}}
    name, claim = ("Deployment", "", "operator"), ("PersistentVolumeClaim", "", "data")

    found = list(refused({name: deployment, claim: {}}, {name: changed}))

    assert found == ["Deployment operator: spec.selector", "PersistentVolumeClaim data: deleted"]


def test_no_definition_and_no_served_version_of_one_is_gone() -> None:
    with tarfile.open(PLATFORM) as archive:
        old = [
            yaml.load(archive.extractfile(member) or b"", Loader=yaml.CSafeLoader)
            for member in archive.getmembers()
            if "/files/crds/" in member.name
        ]
    new = [
        definition
        for path in CHARTS["training-platform"].glob("charts/*/files/crds/*.yaml")
        for definition in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader)
    ]

    assert old
    assert _served(old) - _served(new) == set()


def refused(before: Objects, after: Objects) -> Iterator[str]:
    """Yields what an upgrade between these objects would be refused for, or would lose."""
    for key, old in before.items():
        kind, _, name = key
        new = after.get(key)
        if new is None:
            if kind in KEPT:
                yield f"{kind} {name}: deleted"
            continue
        fixed = FIXED.get(kind, ())
        if old.get("immutable"):
            fixed = ("data", "stringData", "binaryData")
        for path in fixed:
            if _field(old, path) != _field(new, path):
                yield f"{kind} {name}: {path}"


def _rendered(chart: Path, *options: str | Path) -> Objects:
    result = helm("helm", "template", RELEASE, chart, "--namespace", "trainyard", *options)
    assert result.returncode == 0, result.stderr
    return {
        (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]): one
        for one in objects(result.stdout)
    }


def _field(found: Any, path: str) -> Any:
    for key in path.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _served(definitions: list[Any]) -> set[tuple[str, str]]:
    return {
        (one["metadata"]["name"], version["name"])
        for one in definitions
        for version in one["spec"]["versions"]
        if version["served"]
    }
