"""`kind: TrainJob` with the values of a PyTorchJob gives the same run."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from torch.distributed.run import config_from_args, get_args_parser

from tests.charts.helm import CHARTS, manifests, objects, template
from tests.charts.kubeconform import kubeconform

CHART = CHARTS["training-job"]
# The variables that the training operator v1.9.3 sets for a PyTorchJob (pkg/controller.v1/pytorch/envvar.go).
VARIABLES = {
    *("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED"),
    *("PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NNODES", "PET_NODE_RANK", "PET_NPROC_PER_NODE"),
}
# Only a PyTorchJob of Workers alone meets dynamically without restarts, so that each round needs a store of its own.
ROUNDS = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE"}
# Scenarios of PyTorchJobs that have no equivalent TrainJob, and the reasons.
REFUSED = {
    "pod-template-values.yaml": "podTemplate.spec: container pytorch has no image",
    "elastic-values.yaml": "elastic: kind TrainJob has a fixed number of pods",
    "suspended-values.yaml": "runPolicy.managedBy: the training operator does not run a TrainJob",
    "volcano-gang-values.yaml": "scheduling.gang.minResources: Trainer adds up",
}


def _scenarios() -> list[str]:
    files = CHART.glob("ci/*-values.yaml")
    return sorted(file.name for file in files if "kind" not in (yaml.safe_load(file.read_text()) or {}))


def render(scenario: str | None, **values: Any) -> str:
    result = template("helm", CHART, scenario=scenario, values=values)
    assert result.returncode == 0, result.stderr
    return result.stdout


def pod_of_pytorchjob(text: str) -> dict[str, Any]:
    (job,) = (found for found in objects(text) if found["kind"] == "PyTorchJob")
    replicas: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"]
    template: dict[str, Any] = next(iter(replicas.values()))["template"]
    return template


def pod_of_trainjob(text: str) -> dict[str, Any]:
    (runtime,) = (found for found in objects(text) if found["kind"] == "TrainingRuntime")
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    template: dict[str, Any] = job["template"]["spec"]["template"]
    return template


def common(pod: dict[str, Any]) -> Any:
    """Return a pod without the differences of the two kinds: names, labels of operators, rendezvous options."""
    keys = {
        "training.kubeflow.org/job-name": "jobset.sigs.k8s.io/jobset-name",
        "name: pytorch\n": "name: node\n",
        "name: pytorchjob-port": "name: torchrun",
    }
    text = yaml.safe_dump(pod)
    for old, new in keys.items():
        text = text.replace(old, new)
    same = yaml.safe_load(text)
    # Kueue places Master and Workers as a group; the pods of a TrainJob are one PodSet.
    (same["metadata"].get("annotations") or {}).pop("kueue.x-k8s.io/podset-group-name", None)
    same["spec"].pop("restartPolicy", None)
    container = same["spec"]["containers"][0]
    container["env"] = [entry for entry in container["env"] if entry["name"] not in VARIABLES | ROUNDS]
    container["command"] = [word for word in container["command"] if not word.startswith(("--rdzv-", "--n"))]
    return same


@pytest.mark.parametrize("scenario", [name for name in _scenarios() if name not in REFUSED])
def test_the_pods_of_a_trainjob_are_those_of_the_pytorchjob(scenario: str) -> None:
    text = render(scenario, kind="TrainJob")
    pod = pod_of_trainjob(text)

    assert common(pod) == common(pod_of_pytorchjob(manifests("helm", CHART.name, scenario)))
    assert {entry["name"] for entry in pod["spec"]["containers"][0]["env"]} >= VARIABLES
    taken = kubeconform(text)
    assert taken.returncode == 0, taken.stdout


@pytest.mark.parametrize(("scenario", "reason"), REFUSED.items())
def test_a_run_without_an_equivalent_trainjob_is_refused(scenario: str, reason: str) -> None:
    result = template("helm", CHART, scenario=scenario, values={"kind": "TrainJob"})

    assert result.returncode != 0
    assert reason in result.stderr


def test_the_rendezvous_is_at_the_first_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    text = render(None, kind="TrainJob", nodes=4, processesPerNode=2, torchrun={"port": 29400})
    (container,) = pod_of_trainjob(text)["spec"]["containers"]
    for entry in container["env"]:
        # Variables without a value come from the pod's label.
        monkeypatch.setenv(entry["name"], entry.get("value", "3"))

    config, _, _ = config_from_args(get_args_parser().parse_args([*container["command"][1:], *container["args"]]))

    assert (config.min_nodes, config.max_nodes, config.nproc_per_node) == (4, 4, 2)
    assert (config.rdzv_backend, config.rdzv_endpoint) == ("static", "run-42-node-0-0.run-42:29400")
    assert (config.rdzv_configs["timeout"], int(config.rdzv_configs["rank"])) == ("900", 3)
