"""Fabric profiles: the charts render them, and the validator checks runs against them."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
import yaml_rs

from tests.charts import linting
from tests.charts.helm import CHARTS, HELMS, manifests, objects, template
from trainyard.facts import profiles

CHART = CHARTS["training-job"]
PROFILES = profiles.profile_names()
# As charts/common/templates/fabric/_profile.tpl explains them.
KEYS = {
    *("title", "source", "env", "anyValue", "forbidden", "resources", "needs", "capabilities", "annotations"),
    *("networks", "networksAnnotation", "rails", "mounts", "sidecar", "sidecarVolumes"),
}
# Values that no profile can know: the site's networks, the machine's topology file.
NEEDED: dict[str, dict[str, Any]] = {
    "onprem-roce": {"networks": [{"name": "roce"}]},
    "aks-ib": {"topologyFile": {"configMap": "nvidia-topology"}},
}


def values_for(profile: str) -> dict[str, Any]:
    """Return values of a run on two nodes with 8 GPUs each."""
    return {
        "fabric": {"profile": profile, **NEEDED.get(profile, {})},
        "nodes": 2,
        "processesPerNode": 8,
        "resources": {"limits": {"cpu": 96, "memory": "900Gi", "nvidia.com/gpu": 8}},
        "sharedMemory": {"size": "64Gi"},
    }


def lint(profile: str | None, text: str, *options: str) -> str:
    """Return the validator's output for values or manifests."""
    return linting.lint(*(("--profile", profile) if profile else ()), *options, "-", text=text)[1]


def container(text: str) -> dict[str, Any]:
    """Return the program's container in the Master."""
    (job,) = (found for found in objects(text) if found["kind"] == "PyTorchJob")
    found: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    return found


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_holds_what_charts_and_validator_read_and_each_variable_once(profile: str) -> None:
    text = (profiles.FOLDER / f"{profile}.yaml").read_text()
    tree = yaml.safe_load(text)
    env: dict[str, dict[str, str | None]] = tree.get("env", {})
    variables = [name for level in env.values() for name in level]

    assert tree == yaml_rs.loads(text)
    assert set(tree) <= KEYS
    assert set(env) <= {"required", "recommended", "added"}
    assert len(variables) == len(set(variables))
    assert set(tree.get("anyValue", [])) <= set(variables)
    assert set(tree.get("needs", {})) <= {"topologyFile", "interface"}


def test_chart_and_validator_have_the_same_profiles() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert set(schema["properties"]["fabric"]["properties"]["profile"]["enum"]) == {"none", *PROFILES}
    assert {path.name for path in CHART.glob("ci/fabric-*")} == {f"fabric-{name}-values.yaml" for name in PROFILES}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_validator_finds_nothing_in_a_run_of_the_profile(profile: str) -> None:
    values = json.dumps(values_for(profile))
    rendered = template("helm", CHART, values=values_for(profile))
    assert rendered.returncode == 0, rendered.stderr

    for text in (values, rendered.stdout):
        assert lint(profile, text) == "Nothing found in 1 file.\n"
        # Other charts get recommendations as advice; ours follows them.
        assert lint(profile, text, "--pedantic", "--select", "FB") == "Nothing found in 1 file.\n"


@pytest.mark.parametrize("profile", PROFILES)
def test_the_validator_finds_nothing_in_the_scenario(profile: str) -> None:
    assert lint(profile, (CHART / "ci" / f"fabric-{profile}-values.yaml").read_text()) == "Nothing found in 1 file.\n"


def test_values_are_linted_with_the_profile_that_they_name_or_that_an_option_names() -> None:
    run = values_for("gke-gib")
    values = json.dumps({**run, "nccl": {"NCCL_NET": "Socket"}})
    assert "FB001 fabric-setting-required" in lint(None, values)
    assert "FB001" not in lint(None, json.dumps(run))
    assert "FB004 fabric-resource-missing" in lint("eks-efa", json.dumps(run))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_variable_is_set_once(profile: str) -> None:
    names = [
        entry["name"] for entry in container(manifests("helm", "training-job", f"fabric-{profile}-values.yaml"))["env"]
    ]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("profile", PROFILES)
def test_no_profile_uses_host_namespaces_or_privileged_containers(profile: str) -> None:
    (job,) = (
        found
        for found in objects(manifests("helm", "training-job", f"fabric-{profile}-values.yaml"))
        if found["kind"] == "PyTorchJob"
    )
    pod = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]

    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    for one in (*pod["containers"], *pod.get("initContainers", [])):
        assert "privileged" not in one["securityContext"]


@pytest.mark.parametrize("name", HELMS)
def test_null_removes_a_line_of_the_profile(name: str) -> None:
    values = values_for("coreweave-ib")
    values["fabric"] |= {"env": {"UCX_NET_DEVICES": None}, "resources": {"rdma/ib": None}, "capabilities": []}

    result = template(name, CHART, values=values)

    assert result.returncode == 0, result.stderr
    found = container(result.stdout)
    assert "UCX_NET_DEVICES" not in {entry["name"] for entry in found["env"]}
    assert set(found["resources"]["limits"]) == {"cpu", "memory", "nvidia.com/gpu"}
    assert found["securityContext"]["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"fabric": {"profile": "efa"}}, "at '/fabric/profile': value must be one of"),
        ({"nccl": {"NCCL_IB_DISABLE": True}}, "at '/nccl/NCCL_IB_DISABLE': got boolean"),
        ({"nccl": {"UCX_TLS": "rc"}}, "additional properties 'UCX_TLS' not allowed"),
        ({"fabric": {"networks": [{"name": "roce", "interfaceName": "net1"}]}}, "'interfaceName' not allowed"),
        ({"fabric": {"networks": [{"name": "roce", "interface": "much-too-long-a-name"}]}}, "does not match pattern"),
        ({"resourceClaims": [{"name": "nic"}]}, "at '/resourceClaims/0': 'anyOf' failed"),
    ],
)
def test_a_wrong_value_is_refused_by_name(values: dict[str, Any], message: str) -> None:
    result = template("helm", CHART, values=values)

    assert result.returncode != 0
    assert message in result.stderr
