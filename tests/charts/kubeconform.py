"""kubeconform on schemas that are already on this machine."""

from __future__ import annotations

import subprocess

from tests.cluster.tools import KUBERNETES_VERSION
from tests.generate import crd_schemas, kubernetes_schemas

from .helm import ROOT, tool


def kubeconform(manifest: str) -> subprocess.CompletedProcess[str]:
    """Hold the objects of a YAML stream against their schemas; a kind without a schema is an error.

    Only local schema locations are given, so nothing is fetched: kubeconform has no others than those on its command
    line.
    """
    locations = (
        kubernetes_schemas.folder() / kubernetes_schemas.FILE_TEMPLATE,
        ROOT / crd_schemas.FOLDER / crd_schemas.FILE_TEMPLATE,
    )
    options = [f"-schema-location={location}" for location in locations]
    version = f"-kubernetes-version={KUBERNETES_VERSION.removeprefix('v')}"
    return subprocess.run(
        [tool("kubeconform"), "-strict", "-summary", version, *options, "-"],
        input=manifest,
        capture_output=True,
        text=True,
        check=False,
    )
