"""The charts that the validator reads: `charts` of the checkout, of which a wheel has a copy in the package."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
CHARTS = next(folder for folder in (_PACKAGE / "charts", _PACKAGE.parents[1] / "charts") if folder.is_dir())
