"""The training-operator chart: its CRDs, and the fields that the operator sets at run time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.charts.helm import CHARTS, HELMS, manifests, objects, template

CHART = CHARTS["training-operator"]
KINDS = {"JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"}


def objects_of_kind(name: str, kind: str) -> list[dict[str, Any]]:
    """Return the objects of one kind in the default release."""
    return [found for found in objects(manifests(name, CHART.name)) if found["kind"] == kind]


@pytest.mark.parametrize("name", HELMS)
def test_crds_are_upgraded_with_the_release_and_outlive_it(name: str) -> None:
    crds = objects_of_kind(name, "CustomResourceDefinition")

    assert {crd["spec"]["names"]["kind"] for crd in crds} == KINDS
    assert {crd["metadata"]["annotations"]["helm.sh/resource-policy"] for crd in crds} == {"keep"}
    assert {crd["metadata"]["labels"]["app.kubernetes.io/managed-by"] for crd in crds} == {"Helm"}
    # Helm never upgrades CRDs in a chart's crds folder.
    assert not (CHART / "crds").exists()


@pytest.mark.parametrize("name", HELMS)
def test_crds_can_be_left_out(name: str) -> None:
    result = template(name, CHART, values={"crds": {"enabled": False}})

    assert result.returncode == 0, result.stderr
    kinds = {found["kind"] for found in objects(result.stdout)}
    assert "Deployment" in kinds
    assert "CustomResourceDefinition" not in kinds


def test_crds_preserve_labels_of_pod_templates() -> None:
    """The API server prunes fields that the schema does not list, and the operator selects pods by these labels."""
    for crd in objects_of_kind("helm", "CustomResourceDefinition"):
        properties = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        (replicas,) = (property_ for name, property_ in properties.items() if name.endswith("ReplicaSpecs"))
        pod = replicas["additionalProperties"]["properties"]["template"]
        assert {"labels", "annotations"} <= set(pod["properties"]["metadata"]["properties"])


@pytest.mark.parametrize("name", HELMS)
def test_an_upgrade_does_not_overwrite_the_live_certificate(name: str) -> None:
    """Helm writes every field that it renders, even an empty one, so fields that the operator sets must be absent."""
    (secret,) = objects_of_kind(name, "Secret")
    (configuration,) = objects_of_kind(name, "ValidatingWebhookConfiguration")

    assert not {"data", "stringData"} & set(secret)
    assert configuration["webhooks"]
    assert all("caBundle" not in webhook["clientConfig"] for webhook in configuration["webhooks"])
