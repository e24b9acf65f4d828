"""The charts of a release as an OCI layout, in the form that `helm push` gives them in a registry.

Source of the media types: the page "Use OCI-based registries" of Helm's documentation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tools.release.charts import described
from tools.release.layout import Layout

CONFIG_TYPE = "application/vnd.cncf.helm.config.v1+json"
PACKAGE_TYPE = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
PROVENANCE_TYPE = "application/vnd.cncf.helm.chart.provenance.v1.prov"


def write(packages: Sequence[tuple[Path, Path]], folder: Path, seconds: int) -> None:
    """Write a layout of charts, given as pairs of folder and package, with the provenance beside a package."""
    layout = Layout(folder)
    for chart, package in packages:
        about = described(chart)
        layers = [layout.add_file(PACKAGE_TYPE, package)]
        provenance = package.with_name(f"{package.name}.prov")
        if provenance.exists():
            layers.append(layout.add_file(PROVENANCE_TYPE, provenance))
        layout.add_manifest(
            f"{about['name']}:{about['version']}",
            layout.add_bytes(CONFIG_TYPE, json.dumps(about, sort_keys=True).encode()),
            layers,
            annotations={
                "org.opencontainers.image.created": datetime.fromtimestamp(seconds, UTC).isoformat(),
                "org.opencontainers.image.description": about["description"],
                "org.opencontainers.image.title": about["name"],
                "org.opencontainers.image.version": about["version"],
            },
        )
    layout.close()
