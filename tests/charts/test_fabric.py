"""The fabric profiles: the chart sets what the validator's profile of the same name asks for."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from validator.facts import profiles

from .helm import CHARTS, HELMS, ROOT, manifests, objects, template

CHART = CHARTS["training-job"]
PROFILES = profiles.names()
# What a profile cannot know: the site's networks, the machine's topology file.
NEEDED: dict[str, dict[str, Any]] = {
    "onprem-roce": {"networks": [{"name": "roce"}]},
    "aks-ib": {"topologyFile": {"configMap": "nvidia-topology"}},
}


def run_of(profile: str) -> dict[str, Any]:
    """Values of a run of two nodes with 8 GPUs."""
    return {
        "fabric": {"profile": profile, **NEEDED.get(profile, {})},
        "nodes": 2,
        "processesPerNode": 8,
        "resources": {"limits": {"cpu": 96, "memory": "900Gi", "nvidia.com/gpu": 8}},
        "sharedMemory": {"size": "64Gi"},
    }


def lint(profile: str | None, text: str, *options: str) -> str:
    """What the validator says of values or manifests."""
    command = [sys.executable, "-m", "validator", "lint", *(("--profile", profile) if profile else ()), *options, "-"]
    return subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def container(text: str) -> dict[str, Any]:
    """The program's container in the Master."""
    (job,) = (found for found in objects(text) if found["kind"] == "PyTorchJob")
    found: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    return found


def test_chart_and_validator_have_the_same_profiles() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())

    assert set(schema["properties"]["fabric"]["properties"]["profile"]["enum"]) == {"none", *PROFILES}
    assert {path.name for path in CHART.glob("ci/fabric-*")} == {f"fabric-{name}-values.yaml" for name in PROFILES}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_validator_finds_nothing_in_a_run_of_the_profile(profile: str) -> None:
    values = json.dumps(run_of(profile))
    rendered = template("helm", CHART, values=run_of(profile))
    assert rendered.returncode == 0, rendered.stderr

    for text in (values, rendered.stdout):
        assert lint(profile, text) == "Nothing found in 1 file.\n"
        # What is recommended is advice to others; the chart follows it.
        assert lint(profile, text, "--pedantic", "--select", "FB") == "Nothing found in 1 file.\n"


@pytest.mark.parametrize("profile", PROFILES)
def test_the_validator_finds_nothing_in_the_scenario(profile: str) -> None:
    assert lint(profile, (CHART / "ci" / f"fabric-{profile}-values.yaml").read_text()) == "Nothing found in 1 file.\n"


def test_values_are_judged_by_the_profile_that_they_name_and_by_another_that_is_asked_for() -> None:
    run = run_of("gke-gib")
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
def test_no_profile_takes_the_node_over(profile: str) -> None:
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
def test_null_takes_a_line_of_the_profile_away(name: str) -> None:
    values = run_of("coreweave-ib")
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
