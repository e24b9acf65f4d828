"""kubeconform with local schemas."""

from __future__ import annotations

import os
import subprocess

from tests.charts.helm import ROOT, WITHOUT_COLLECTOR, tool
from tests.harness.cluster.tools import module_version
from tools.generate import crd_schemas, kubernetes_schemas


def kubeconform(manifest: str) -> subprocess.CompletedProcess[str]:
    """Validate the objects of a YAML stream against their schemas; a kind without a schema is an error.

    All schema locations are local, so kubeconform downloads nothing: it uses only the locations on its command line.
    """
    locations = (
        kubernetes_schemas.folder() / kubernetes_schemas.FILE_TEMPLATE,
        ROOT / crd_schemas.FOLDER / crd_schemas.FILE_TEMPLATE,
    )
    options = [f"-schema-location={location}" for location in locations]
    version = f"-kubernetes-version={module_version('kubernetes').removeprefix('v')}"
    return subprocess.run(
        [tool("kubeconform"), "-strict", "-summary", version, *options, "-"],
        input=manifest,
        env=os.environ | WITHOUT_COLLECTOR,
        capture_output=True,
        text=True,
        check=False,
    )
