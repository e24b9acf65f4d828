"""The platform of a site as our chart installs it on a kind cluster, with the images that the harness builds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.cluster import api
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine

from . import networks, operator
from .helm import CHARTS, Helm, Settings

RELEASE = "platform"
CHART = "training-platform"
NAMESPACE = "trainyard"
SITE = CHARTS / CHART / "ci" / "kind-values.yaml"
RUN_VALUES = f"{RELEASE}-run-values"


def images(cluster: Cluster, engine: Engine) -> Settings:
    """Load the images that the parts need and return the values that name them."""
    parts = {"operator": operator.images(cluster, engine), "networks": networks.images(cluster, engine)}
    return {f"{part}.{name}": value for part, settings in parts.items() for name, value in settings.items()}


def install(
    cluster: Cluster,
    *,
    program: str = "helm",
    settings: Settings | None = None,
    options: Sequence[str] = (),
) -> str:
    """Install the platform, or upgrade it, wait as Helm does until its parts work, and return the chart's notes."""
    return Helm(cluster.kubeconfig, program).install(
        RELEASE,
        CHART,
        namespace=NAMESPACE,
        values=[SITE],
        settings=settings,
        options=["--create-namespace", "--wait", *options],
        upgrade=True,
    )


def write_run_values(cluster: Cluster, file: Path) -> None:
    """Write into `file` what the platform keeps for runs."""
    kept = api.kubectl(cluster.kubeconfig, "get", "configmap", RUN_VALUES, "--namespace", NAMESPACE, "--output=json")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.loads(kept)["data"]["run.yaml"])
