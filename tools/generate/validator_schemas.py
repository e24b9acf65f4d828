"""The JSON Schema of what `trainyard lint --output-format json` prints."""

from __future__ import annotations

import json
from pathlib import Path

from validator import schemas

FILES = "schemas/finding.schema.json"


def write(root: Path) -> None:
    """Write it under a root."""
    (root / FILES).write_text(json.dumps(schemas.finding(), indent=2) + "\n")
