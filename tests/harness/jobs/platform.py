"""The platform, installed by our chart on a kind cluster with images that the harness builds."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    program: str = "helm",
    settings: Settings | None = None,
    options: Sequence[str] = (),
) -> str:
    """Install or upgrade the platform, wait (`helm --wait`) until its parts are ready, and return the chart's notes."""
    return Helm(cluster.kubeconfig, program).install(
        RELEASE,
        CHART,
        namespace=NAMESPACE,
        values=[SITE],
        settings=settings,
        options=["--create-namespace", "--wait", *options],
        upgrade=True,
    )


def site(images: Settings, *, master: str, image: str) -> str:
    """Return the values of the site as YAML, with the images of parts and runs and the nodes' second interface."""
    values = yaml.safe_load(SITE.read_text())
    repository, tag = image.rsplit(":", 1)
    for name, value in {**images, "runs.image.repository": repository, "runs.image.tag": tag}.items():
        _set(values, name.split("."), value)
    values["networks"]["networks"][0]["master"] = master
    return yaml.safe_dump(values, sort_keys=False)


def _set(values: dict[str, Any], keys: Sequence[str], value: object) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
    values[keys[-1]] = value


def write_run_values(cluster: Cluster, file: Path) -> None:
    """Write the values that the platform provides for runs to `file`."""
    kept = api.kubectl(cluster.kubeconfig, "get", "configmap", RUN_VALUES, "--namespace", NAMESPACE, "--output=json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.loads(kept)["data"]["run.yaml"])
