"""The JSON Schema of the JSON report."""

from __future__ import annotations

from typing import Any

from trainyard.linting.config_schema import COUNT, DIALECT, TEXT, list_of, object_of
from trainyard.reporters.json import VERSION


def report_schema() -> dict[str, Any]:
    """Returns the schema of `trainyard lint --output-format json`."""
    location = {"path": TEXT, "line": COUNT, "column": COUNT, "end_line": COUNT, "end_column": COUNT}
    fields = {
        "rule": {"type": "string", "pattern": "^[A-Z]{2,8}[0-9]{3,4}$"},
        "name": TEXT,
        "url": {**TEXT, "description": "Address of the rule's page."},
        "severity": {"enum": ["error", "warning", "info"]},
        "confidence": {"enum": ["high", "medium", "low"]},
        "message": TEXT,
        "help": {"type": "string", "description": "The remedy; may be empty."},
        "fix": {
            "enum": ["safe", "unsafe", None],
            "description": "Kind of the automatic fix, if there is one.",
        },
        "fingerprint": {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "Stable when other lines change.",
        },
        "location": object_of(location, "Lines and columns count from 1; the end is after the last character."),
        "related": list_of(object_of({**location, "message": TEXT})),
    }
    report = {
        "version": {"const": VERSION},
        "trainyard": TEXT,
        "files": list_of(TEXT),
        "findings": list_of(object_of(fields)),
        "allowed": list_of(object_of({**fields, "reason": {"type": "string"}}), "Suppressed findings."),
        "baselined": {"type": "integer", "minimum": 0, "description": "Number of findings hidden by the baseline."},
        "notes": list_of(TEXT, "Files and charts that were not checked, each with the reason."),
    }
    return {"$schema": DIALECT, "title": "Findings of trainyard lint", **object_of(report)}
