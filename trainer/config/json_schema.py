"""The JSON Schema of the configuration file, from the fields."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from .schema import TrainerConfig

_TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}


def json_schema() -> dict[str, Any]:
    """Draft 7, which Helm reads too: https://helm.sh/docs/topics/charts/#schema-files."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of the reference trainer",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            config_field.name: {
                "type": _TYPES.get(type(config_field.default), "string"),
                "description": config_field.metadata["help"],
                "default": str(config_field.default)
                if isinstance(config_field.default, Path)
                else config_field.default,
                **config_field.metadata["bounds"].as_json_schema(),
            }
            for config_field in fields(TrainerConfig)
        },
    }
