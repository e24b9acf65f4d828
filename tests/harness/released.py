"""The charts of the last release: packages in `tests/e2e/charts`, and the parts that its platform holds."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

from tests.harness.cluster.archive import unpack

FOLDER = Path(__file__).parents[1] / "e2e" / "charts"
PLATFORM = FOLDER / "training-platform-0.6.0.tgz"
RUN, PREFLIGHT = FOLDER / "training-job-0.4.0.tgz", FOLDER / "training-preflight-0.3.1.tgz"
PARTS = (
    "gpu-rdma-policy",
    "kubeflow-trainer",
    "training-monitoring",
    "training-networks",
    "training-operator",
    "training-runtimes",
)


def part(name: str, folder: Path) -> Path:
    """Write the chart of a part below a folder and return its own folder."""
    with tarfile.open(PLATFORM) as archive:
        unpack(archive, folder)
    parts = folder / "training-platform" / "charts"
    # Its package also holds the library, which parts share within a platform.
    shutil.copytree(parts / "common", parts / name / "charts" / "common")
    return parts / name
