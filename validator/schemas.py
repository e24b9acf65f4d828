"""JSON Schemas: of the configuration, with the rules' parameters in it, and of the JSON output."""

from __future__ import annotations

from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string", "minLength": 1}
_COUNT = {"type": "integer", "minimum": 1}


def finding() -> dict[str, Any]:
    """The schema of `trainyard lint --output-format json`."""
    from validator.reporters.json import VERSION

    location = {"path": _TEXT, "line": _COUNT, "column": _COUNT, "end_line": _COUNT, "end_column": _COUNT}
    fields = {
        "rule": {"type": "string", "pattern": "^[A-Z]{2}[0-9]{3}$"},
        "name": _TEXT,
        "severity": {"enum": ["error", "warning", "info"]},
        "confidence": {"enum": ["high", "medium", "low"]},
        "message": _TEXT,
        "help": {"type": "string", "description": "What to write instead; may be empty."},
        "fix": {
            "enum": ["safe", "unsafe", None],
            "description": "Whether `trainyard fix` corrects it, and how safely.",
        },
        "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$", "description": "Stays when lines move."},
        "location": _object(location, "Lines and columns count from 1; the end is behind the last character."),
        "related": _list(_object({**location, "message": _TEXT})),
    }
    report = {
        "version": {"const": VERSION},
        "trainyard": _TEXT,
        "files": _list(_TEXT),
        "findings": _list(_object(fields)),
        "allowed": _list(_object({**fields, "reason": {"type": "string"}}), "What a suppression hides."),
        "baselined": {"type": "integer", "minimum": 0, "description": "How many findings the baseline hides."},
    }
    return {"$schema": DIALECT, "title": "What trainyard lint finds", **_object(report)}


def config() -> dict[str, Any]:
    """The schema of `.trainyard.yaml` and of `[tool.trainyard]`."""
    from validator import registry
    from validator.facts import profiles
    from validator.rule import Target

    rules = registry.rules()
    names = {"enum": [text for rule in rules for text in (rule.code, rule.name)]}
    selectors = {"anyOf": [_TEXT, _list(_TEXT)], "description": "Codes, starts of codes, or names."}
    allowed = _object({"rule": names, "path": _TEXT, "reason": _TEXT}, required=("rule", "reason"))
    fields = {
        "target": _object(
            {name: {"type": ["string", "integer"], "pattern": "^v?[0-9]"} for name in Target._fields},
            "Versions that the run will meet, in quotes.",
            required=(),
        ),
        "profile": {"enum": list(profiles.names()), "description": "The fabric of the cluster."},
        "site": {
            **_TEXT,
            "description": "Values of charts/training-platform; the name counts from this file's folder.",
        },
        "select": selectors,
        "ignore": selectors,
        "pedantic": {"type": "boolean", "description": "Also rules that advise, or that are only probably right."},
        "auditor": {"type": "boolean", "description": "Also rules that point at what a person should look at."},
        "rules": _object(
            {rule.code: _parameters(rule) for rule in rules if rule.parameters is not None},
            "Parameters of rules.",
            required=(),
        ),
        "allow": _list(allowed, "Rules that are allowed in some files, each with its reason."),
        "known-networks": _list(_TEXT, "Networks of the cluster that no file defines: `name` or `namespace/name`."),
        "exclude": _list(_TEXT, "Files and folders to leave out; `*` and `?` stand for what they do in a shell."),
    }
    return {"$schema": DIALECT, "title": "Configuration of trainyard", **_object(fields, required=())}


def _object(
    fields: dict[str, Any], description: str = "", *, required: tuple[str, ...] | None = None
) -> dict[str, Any]:
    names = list(fields) if required is None else list(required)
    result: dict[str, Any] = {"type": "object", "properties": fields, "additionalProperties": False}
    return _described({**result, **({"required": names} if names else {})}, description)


def _list(items: dict[str, Any], description: str = "") -> dict[str, Any]:
    return _described({"type": "array", "items": items}, description)


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description} if description else schema


def _parameters(rule: Any) -> dict[str, Any]:
    from validator import parameters

    fields = {name.replace("_", "-"): _typed(value) for name, value in parameters.defaults(rule).items()}
    return _object(fields, rule.name, required=())


def _typed(default: Any) -> dict[str, Any]:
    if isinstance(default, tuple):
        return {**_list(_typed(default[0]) if default else _TEXT), "default": list(default)}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": kinds[type(default)], "default": default}
