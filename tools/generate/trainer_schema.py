"""The JSON Schema of the trainer's configuration file."""

from __future__ import annotations

import json
from pathlib import Path

from trainer.config.json_schema import json_schema

FILES = "schemas/trainer-config.schema.json"


def write(root: Path) -> None:
    """Write the schema below a root."""
    (root / FILES).write_text(json.dumps(json_schema(), indent=2) + "\n")
