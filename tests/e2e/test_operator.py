"""The training operator's chart on a live cluster: available, upgraded without losing its certificate, CRDs kept."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
import yaml
from kubernetes.dynamic.exceptions import DynamicApiError
from pytest_helm_charts.clusters import Cluster as KubeCluster
from pytest_helm_charts.k8s.deployment import wait_for_deployments_to_run

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import operator
from tests.harness.jobs.helm import Helm

CRDS = {f"{kind}jobs.kubeflow.org" for kind in ("jax", "mpi", "paddle", "pytorch", "tf", "xgboost")}
WEBHOOK = "validator.training-operator.kubeflow.org"
SECRET = "training-operator-webhook-cert"  # noqa: S105 - a Secret's name
# Kubernetes accepts at most 1 MiB of data in one Secret (core/v1 MaxSecretSize).
HALF_OF_A_SECRET = 512 * 1024

# The tests uninstall the operator in between.
pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("training_operator")]


def certificate(connection: Any) -> dict[str, str]:
    secret = api.find(connection, "v1", "Secret", SECRET, operator.NAMESPACE)
    assert secret is not None
    return dict(secret.data or {})


def authority(connection: Any) -> set[str]:
    found = api.find(connection, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", WEBHOOK)
    assert found is not None
    return {webhook.clientConfig.caBundle for webhook in found.webhooks}


def crds(connection: Any) -> set[str]:
    found = api.objects(connection, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return {item.metadata.name for item in found if item.metadata.name.endswith(".kubeflow.org")}


def test_operator_is_available_and_serves_all_six_kinds(kube_cluster: KubeCluster, connection: Any) -> None:
    client = kube_cluster.kube_client
    assert client is not None
    wait_for_deployments_to_run(client, [operator.RELEASE], operator.NAMESPACE, 60)
    assert crds(connection) == CRDS


def test_leader_election_holds_a_lease(connection: Any) -> None:
    leases = api.objects(connection, "coordination.k8s.io/v1", "Lease", namespace=operator.NAMESPACE)
    assert any("training-operator" in (lease.spec.holderIdentity or "") for lease in leases)


def test_the_release_secret_takes_less_than_half_of_the_limit(connection: Any) -> None:
    secrets = api.objects(
        connection, "v1", "Secret", namespace=operator.NAMESPACE, label_selector=f"owner=helm,name={operator.RELEASE}"
    )
    assert secrets
    assert all(len(base64.b64decode(secret.data["release"])) < HALF_OF_A_SECRET for secret in secrets)


def test_webhook_refuses_a_job_without_a_container_called_pytorch(cluster: Cluster) -> None:
    job = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: refused, namespace: default}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: main, image: none}]}}
"""
    with pytest.raises(Exception, match="pytorch"):
        api.kubectl(cluster.kubeconfig, "apply", "--dry-run=server", "-f", "-", stdin=job)


def test_upgrade_keeps_the_webhook_certificate(cluster: Cluster, engine: Engine, connection: Any) -> None:
    before = certificate(connection), authority(connection)
    assert set(before[0]) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
    operator.install(cluster, engine, settings={"controllerThreads": 11})
    deployment = api.find(connection, "apps/v1", "Deployment", operator.RELEASE, operator.NAMESPACE)
    assert deployment is not None
    assert "--controller-threads=11" in deployment.spec.template.spec.containers[0].args
    assert (certificate(connection), authority(connection)) == before


# The operator speaks HTTP/1.1: a request on a connection that its old pod closes at this moment ends with one of these.
CLOSED = (": EOF", ": http: server closed idle connection", ": connection reset by peer")


@contextmanager
def submitted_jobs(connection: Any) -> Iterator[list[str]]:
    """Show jobs to the API server, one after the other, in another thread; yields the list of its errors."""
    job = yaml.safe_load("""
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: accepted, namespace: default}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: none}]}}
""")
    resource = connection.resources.get(api_version="kubeflow.org/v1", kind="PyTorchJob")
    errors: list[str] = []
    accepted, ended = threading.Event(), threading.Event()

    def submit() -> None:
        while not ended.is_set():
            try:
                resource.create(body=job, namespace="default", dry_run="All")
            except api.NO_ANSWER as error:
                errors.append(str(error.summary() if isinstance(error, DynamicApiError) else error))
            accepted.set()

    thread = threading.Thread(target=submit)
    thread.start()
    try:
        assert accepted.wait(30)
        yield errors
    finally:
        ended.set()
        thread.join()


def test_jobs_are_accepted_while_the_operator_is_upgraded(cluster: Cluster, engine: Engine, connection: Any) -> None:
    def pods() -> list[str]:
        selector = f"app.kubernetes.io/instance={operator.RELEASE}"
        found = api.objects(connection, "v1", "Pod", namespace=operator.NAMESPACE, label_selector=selector)
        return [pod.metadata.name for pod in found]

    with submitted_jobs(connection) as errors:
        before = pods()
        operator.install(cluster, engine, settings={"podAnnotations.upgrade": uuid4().hex})
        api.wait_until(
            lambda: pods() and not set(pods()) & set(before), what="the operator's old pod to end", seconds=60
        )
    assert [error for error in errors if not error.endswith(CLOSED)] == []


def test_uninstall_keeps_crds_and_jobs_and_a_new_install_adopts_them(
    cluster: Cluster, engine: Engine, connection: Any
) -> None:
    job = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: survivor, namespace: default}
spec:
  runPolicy: {suspend: true}
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: none}]}}
"""
    api.kubectl(cluster.kubeconfig, "apply", "-f", "-", stdin=job)
    try:
        Helm(cluster.kubeconfig).uninstall(operator.RELEASE, namespace=operator.NAMESPACE)
        assert crds(connection) == CRDS
        assert api.find(connection, "kubeflow.org/v1", "PyTorchJob", "survivor", "default") is not None
        operator.install(cluster, engine)
        assert crds(connection) == CRDS
    finally:
        api.kubectl(cluster.kubeconfig, "delete", "pytorchjob", "survivor", "--ignore-not-found")


def test_helm_4_installs_upgrades_and_keeps_the_certificate(cluster: Cluster, engine: Engine, connection: Any) -> None:
    Helm(cluster.kubeconfig).uninstall(operator.RELEASE, namespace=operator.NAMESPACE)
    operator.install(cluster, engine, program="helm4")
    before = certificate(connection), authority(connection)
    assert before[0]
    operator.install(cluster, engine, program="helm4")
    assert (certificate(connection), authority(connection)) == before
