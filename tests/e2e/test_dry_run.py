"""Server-side dry runs: the API server accepts the objects of every scenario and of generated values."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.charts import helm
from tests.charts.value_strategies import VALUES
from tests.e2e.conftest import SERVES_TRAINER
from tests.harness.cluster.cluster import Cluster
from tests.harness.jobs import dry_run, kubeflow_trainer, mpi_operator, operator_crds
from tests.harness.jobs import namespace as namespaces
from trainyard.facts.kubernetes.served_apis import SERVED_APIS

MONITORS = ("monitoring.coreos.com/v1/PodMonitor", "monitoring.coreos.com/v1/ServiceMonitor")
APIS = ("--api-versions", ",".join((*SERVED_APIS, *MONITORS)))
# Nothing installs these APIs on the cluster.
NOT_SERVED = {
    ("k8s.cni.cncf.io/v1beta1", "MultiNetworkPolicy"),
}
if not SERVES_TRAINER:
    NOT_SERVED |= {("trainer.kubeflow.org/v1alpha1", kind) for kind in ("TrainJob", "TrainingRuntime")}
# Namespaces in the values of scenarios.
NAMESPACES = ("gpu-operator", "networks", "nvidia-network-operator", "speech", "training", "vision")
# `make long` tests more examples.
DRAWS = int(os.environ.get("TRAINYARD_DRAWS", "25"))
# Messages of Helm for values that the schema refuses, and for those that a template refuses.
OWN_WORDS = ("values don't meet the specifications of the schema", "execution error at (training-job/templates/")


@pytest.fixture(scope="module")
def ready(
    cluster: Cluster, training_operator: None, connection: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """The API server with all CRDs, and the namespaces of the scenarios."""
    for name in NAMESPACES:
        namespaces.create(cluster.kubeconfig, name)
    others = [
        *(kubeflow_trainer.crds() if SERVES_TRAINER else ()),
        *operator_crds.files("monitoring"),
        *operator_crds.files("kueue"),
        *sorted((helm.CHARTS["training-networks"] / "crds").glob("*.yaml")),
        *operator_crds.write_documented(helm.ROOT, tmp_path_factory.mktemp("definitions")),
    ]
    with mpi_operator.served(cluster), operator_crds.served(cluster, others):
        connection.resources.invalidate_cache()
        yield connection
    connection.resources.invalidate_cache()
    for name in NAMESPACES:
        namespaces.delete(cluster.kubeconfig, name)


def title(found: dict[str, Any]) -> tuple[str, str]:
    """Return API version and kind of an object."""
    return found["apiVersion"], found["kind"]


@pytest.mark.parametrize(("chart", "scenario"), helm.SCENARIOS)
def test_the_api_server_accepts_every_object_of_a_scenario(ready: Any, chart: str, scenario: str | None) -> None:
    rendered = helm.template("helm", helm.CHARTS[chart], *APIS, scenario=scenario)
    if rendered.returncode:
        # The chart, or its kubeVersion, refuses what the API server of the oldest Kubernetes would refuse or drop.
        assert re.search(r" requires (Kubernetes 1\.|kubeVersion: )", rendered.stderr), rendered.stderr
        return
    objects = helm.objects(rendered.stdout)

    asked = [found for found in objects if title(found) not in NOT_SERVED]

    assert asked
    assert dry_run.refusals(ready, asked) == []


@pytest.mark.timeout(3600)
def test_the_api_server_accepts_the_objects_of_generated_values(ready: Any) -> None:
    rendered = 0

    @settings(max_examples=DRAWS, phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow])
    @given(VALUES)
    def look(drawn: dict[str, Any]) -> None:
        nonlocal rendered
        result = helm.template("helm", helm.CHARTS["training-job"], *APIS, values=drawn)
        if result.returncode:
            assert any(words in result.stderr for words in OWN_WORDS), result.stderr
            return
        rendered += 1
        asked = [found for found in helm.objects(result.stdout) if title(found) not in NOT_SERVED]
        assert dry_run.refusals(ready, asked) == []

    look()
    print(f"rendered: {rendered} of {DRAWS}")
    assert rendered > DRAWS / 3


@pytest.mark.parametrize(("version", "kind"), sorted(NOT_SERVED))
def test_kinds_excluded_from_the_dry_run_are_not_served(connection: Any, version: str, kind: str) -> None:
    connection.resources.invalidate_cache()

    assert connection.resources.search(api_version=version, kind=kind) == []


JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: run-42, namespace: default}
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
        metadata: {labels: {team: vision}}
        spec: {containers: [{name: pytorch, image: trainer, resources: {limits: {cpu: 500m}}}]}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("replicas: 1", "replica: 1", ".Master.replica: field not declared in schema"),
        ("replicas: 1", "replicas: one", "expected numeric"),
        ("team: vision", "team: the vision", "a valid label must be"),
        ("image: trainer", 'image: " trainer"', "must not have leading or trailing whitespace"),
        ("500m", "half", "quantities must match"),
        ("kubeflow.org/v1", "example.org/v1", "example.org/v1 is not served"),
    ],
)
def test_the_api_server_rejects_an_invalid_object(ready: Any, right: str, wrong: str, message: str) -> None:
    assert right in JOB
    assert dry_run.refusals(ready, helm.objects(JOB)) == []

    said = dry_run.refusals(ready, helm.objects(JOB.replace(right, wrong)))

    assert any(message in line for line in said), said
