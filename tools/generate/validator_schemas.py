"""The JSON Schema of the output of `trainyard lint --output-format json`."""

from __future__ import annotations

import json
from pathlib import Path

from trainyard.reporters import json_schema

FILES = "schemas/finding.schema.json"


def write(root: Path) -> None:
    """Write the schema below a root."""
    (root / FILES).write_text(json.dumps(json_schema.report_schema(), indent=2) + "\n")
