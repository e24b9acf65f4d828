"""kubeconform with local schemas."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.charts.helm import ROOT, WITHOUT_COLLECTOR, tool
from tests.harness.cluster.tools import module_version
from tools.generate import crd_schemas, kubernetes_schemas


def kubeconform(manifest: str) -> subprocess.CompletedProcess[str]:
    """Validate the objects of a YAML stream against their schemas; a kind without a schema is an error.

    All schema locations are local, so kubeconform downloads nothing: it uses only the locations on its command line.
    """
    return _run("-summary", "-", stdin=manifest)


def verdicts(folder: Path) -> dict[str, list[str]]:
    """Return the verdict on each object of the files in a folder, by file; one process compiles a schema only once."""
    result = _run("-verbose", "-output=json", str(folder))
    found: dict[str, list[str]] = {}
    for one in json.loads(result.stdout)["resources"]:
        found.setdefault(Path(one["filename"]).name, []).append(f"{one['status']} {one['msg']}".rstrip())
    return found


def _run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    locations = (
        kubernetes_schemas.folder() / kubernetes_schemas.FILE_TEMPLATE,
        ROOT / crd_schemas.FOLDER / crd_schemas.FILE_TEMPLATE,
    )
    options = [f"-schema-location={location}" for location in locations]
    version = f"-kubernetes-version={module_version('kubernetes').removeprefix('v')}"
    return subprocess.run(
        [tool("kubeconform"), "-strict", version, *options, *arguments],
        input=stdin,
        env=os.environ | WITHOUT_COLLECTOR | {"GOMEMLIMIT": "1GiB"},
        capture_output=True,
        text=True,
        check=False,
    )
