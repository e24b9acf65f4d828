"""The platform, installed by our chart on a kind cluster with images that the harness builds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import kubeflow_trainer, networks, operator
from tests.harness.jobs.helm import CHARTS, Helm, Settings
from tests.harness.jobs.namespace import PYTORCHJOB, TRAINJOB, Kind

RELEASE = "platform"
CHART = "training-platform"
NAMESPACE = "trainyard"
SITE = CHARTS / CHART / "ci" / "kind-values.yaml"
RUN_VALUES = f"{RELEASE}-run-values"
# Groups of the CustomResourceDefinitions of the parts, which stay when the release goes.
GROUPS = ("kubeflow.org", "k8s.cni.cncf.io", "whereabouts.cni.cncf.io")


@contextmanager
def bare(cluster: Cluster, engine: Engine) -> Iterator[None]:
    """Take the parts off a cluster for a block; the training operator of other tests is restored at the end."""
    helm = Helm(cluster.kubeconfig)
    found = helm.run("list", "--short", "--namespace", operator.NAMESPACE).split()
    helm.uninstall(operator.RELEASE, namespace=operator.NAMESPACE)
    remove_crds(cluster)
    try:
        yield
    finally:
        remove_crds(cluster)
        if operator.RELEASE in found:
            operator.install(cluster, engine)


def installed_crds(cluster: Cluster) -> list[str]:
    """Return the names of the parts' CRDs on the cluster."""
    found = api.objects(api.connect(cluster.kubeconfig), "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return sorted(crd.metadata.name for crd in found if crd.spec.group in GROUPS)


def remove_crds(cluster: Cluster) -> None:
    """Remove the parts' CRDs from the cluster."""
    if names := installed_crds(cluster):
        api.kubectl(cluster.kubeconfig, "delete", "crd", "--timeout=60s", *names)


def images(cluster: Cluster, engine: Engine, *, serves: Kind = PYTORCHJOB) -> Settings:
    """Load the images of the networks and of the controllers that serve a kind; return the values for both."""
    controllers = {PYTORCHJOB: ("operator", operator.images), TRAINJOB: ("trainer", kubeflow_trainer.images)}
    part, load = controllers[serves]
    return {
        **{f"networks.{name}": value for name, value in networks.images(cluster, engine).items()},
        **{f"{part}.{name}": value for name, value in load(cluster, engine).items()},
        **{f"{other}.enabled": other == part for other, _ in controllers.values()},
    }


def install(
    cluster: Cluster,
    *,
    chart: str = CHART,
    program: str = "helm",
    settings: Settings | None = None,
    options: Sequence[str] = (),
) -> str:
    """Install or upgrade the platform, wait (`helm --wait`) until its parts are ready, and return the chart's notes.

    `chart` is the folder of a chart, or the path of a package.
    """
    return Helm(cluster.kubeconfig, program).install(
        RELEASE,
        chart,
        namespace=NAMESPACE,
        values=[SITE],
        settings=settings,
        options=["--create-namespace", "--wait", *options],
        upgrade=True,
    )


def site(images: Settings, *, master: str, image: str) -> str:
    """Return the values of the site as YAML, with the images of parts and runs and the nodes' second interface."""
    repository, tag = image.rsplit(":", 1)
    runs = {"runs.image.repository": repository, "runs.image.tag": tag}
    values = merged(yaml.safe_load(SITE.read_text()), {**images, **runs})
    values["networks"]["networks"][0]["master"] = master
    return yaml.safe_dump(values, sort_keys=False)


def merged(values: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Return values, which are changed, with the settings of Helm's option `--set`."""
    for name, value in settings.items():
        place = values
        *folders, key = name.split(".")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[key] = value
    return values


def write_run_values(cluster: Cluster, file: Path) -> None:
    """Write the values that the platform provides for runs to `file`."""
    kept = api.kubectl(cluster.kubeconfig, "get", "configmap", RUN_VALUES, "--namespace", NAMESPACE, "--output=json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.loads(kept)["data"]["run.yaml"])
