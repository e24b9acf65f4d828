"""The release of a chart, as the user names it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class ChartRelease(NamedTuple):
    """A release of a chart: `helm` is the program that renders it, None for the one on the PATH."""

    chart: Path
    name: str = "run"
    namespace: str = "default"
    helm: str | None = None
    kube_version: str | None = None
