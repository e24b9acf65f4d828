"""What the validator takes a site for is what charts/training-platform makes of the same values."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.charts import helm
from validator.roads import manifest
from validator.roads.site.loading import PARTS, load
from validator.site import Site

CHART = helm.ROOT / "charts" / "training-platform"
SITES = sorted(CHART.glob("ci/*-values.yaml"))
NAMESPACE = "platform"
# A namespace that a site does not write is that of the release, which the validator leaves open.
RELEASE = ("--namespace", NAMESPACE, "--api-versions", "kueue.x-k8s.io/v1beta1")


@functools.cache
def site_and_objects(path: Path) -> tuple[Site, list[dict[str, Any]]]:
    made = helm.template("helm", CHART, *RELEASE, scenario=path.name)
    assert made.returncode == 0, made.stderr
    return load(str(path)), [tree for tree in yaml.safe_load_all(made.stdout) if tree]


def test_the_parts_of_a_site_are_those_of_the_chart() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert values.keys() <= PARTS.keys()
    for part, keys in PARTS.items():
        assert keys is None or set(keys) == values[part].keys(), part


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.name)
def test_runs_are_installed_with_the_same_values(path: Path) -> None:
    site, objects = site_and_objects(path)
    kept = next(one for one in objects if one["kind"] == "ConfigMap" and "run.yaml" in one.get("data", {}))
    values = yaml.safe_load(kept["data"]["run.yaml"])
    for network in values["fabric"].get("networks", ()):
        if network.get("namespace") == NAMESPACE:
            del network["namespace"]
    assert site.run_values.tree == values


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.name)
def test_the_networks_and_queues_are_the_same(path: Path) -> None:
    site, objects = site_and_objects(path)
    queues = [one["metadata"] for one in objects if one["kind"] == "LocalQueue"]
    assert {(one.namespace, one.name) for one in site.queues or ()} == {
        (one["namespace"], one["name"]) for one in queues
    }
    networks = [one for one in objects if one["kind"] == "NetworkAttachmentDefinition"]
    made = {
        (one.namespace or NAMESPACE, one.name, one.resource) for one in site.networks if "networks" in one.at.path[:1]
    }
    assert made == {_network(one) for one in networks}


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.name)
def test_the_quotas_are_for_the_same_resources(path: Path) -> None:
    site, objects = site_and_objects(path)
    queues = {one["metadata"]["name"]: one["spec"] for one in objects if one["kind"] == "ClusterQueue"}
    for queue in site.queues or ():
        assert set(queue.quotas) == set(queues[queue.cluster_queue]["resourceGroups"][0]["coveredResources"])


def _network(tree: dict[str, Any]) -> tuple[str, str, str]:
    metadata = tree["metadata"]
    resource = metadata.get("annotations", {}).get(manifest.RESOURCE_NAME, "")
    return metadata.get("namespace", NAMESPACE), metadata["name"], resource
