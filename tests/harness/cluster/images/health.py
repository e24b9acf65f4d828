"""The image of nodehealth for test clusters, on the Debian system of the fetcher.

Users build `charts/node-health/image` instead; both run the same package.
"""

from __future__ import annotations

from pathlib import Path

from tests.harness.cluster.archive import Content
from tests.harness.cluster.images.fetcher import DEBIAN
from tests.harness.cluster.images.packages import Packages
from tests.harness.cluster.images.python import PythonImage

PYTHON = "3.13"  # trixie's
PACKAGE = Path(__file__).parents[4] / "charts/node-health/image/nodehealth"
HOME = "opt/trainyard"


def _contents() -> dict[str, Content]:
    sources = sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)
    return {f"{HOME}/{path.relative_to(PACKAGE.parent)}": path for path in sources}


IMAGE = PythonImage(
    "node-health",
    DEBIAN,
    Packages("health", PYTHON),
    _contents,
    environment={"PYTHONPATH": f"/{HOME}"},
    working_directory=f"/{HOME}",
    bytecode=True,
)
