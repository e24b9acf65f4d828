"""The JSON Schema of the configuration, with the parameters of the rules."""

from __future__ import annotations

from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}


def configuration_schema() -> dict[str, Any]:
    """Returns the schema of `.trainyard.yaml` and of `[tool.trainyard]`."""
    from trainyard.engine import registry
    from trainyard.engine.rule import SEVERITIES, Target
    from trainyard.facts import profiles

    rules = registry.rules()
    # Any other text is the name of a check.
    names = {"anyOf": [{"enum": [text for rule in rules for text in (rule.code, rule.name)]}, TEXT]}
    selectors = {"anyOf": [TEXT, list_of(TEXT)], "description": "Codes, code prefixes, or names."}
    severities = {"enum": list(SEVERITIES)}
    allowed = object_of({"rule": names, "path": TEXT, "reason": TEXT}, required=("rule", "reason"))
    fields = {
        "target": object_of(
            {name: {"type": ["string", "integer"], "pattern": "^v?[0-9]"} for name in Target._fields},
            "Versions of the components that the run uses, in quotes.",
            required=(),
        ),
        "profile": {"enum": list(profiles.profile_names()), "description": "The fabric of the cluster."},
        "site": {
            **TEXT,
            "description": "Values of charts/training-platform; the path is relative to this file's folder.",
        },
        "select": selectors,
        "ignore": selectors,
        "pedantic": {"type": "boolean", "description": "Also run rules that advise, and rules of medium confidence."},
        "auditor": {"type": "boolean", "description": "Also run rules that point out settings for a person to review."},
        "rules": object_of(
            {rule.code: _parameters(rule) for rule in rules if rule.parameters is not None},
            "Parameters of rules.",
            required=(),
        ),
        "allow": list_of(allowed, "Rules that are allowed in some files, each with its reason."),
        "known-networks": list_of(
            TEXT, "Existing networks of the cluster, beside those in the files: `name` or `namespace/name`."
        ),
        "respect-gitignore": {"type": "boolean", "description": "Leave out files that git ignores. Default: true."},
        "min-severity": {**severities, "description": "Report only findings of at least this severity."},
        "fail-on": {**severities, "description": "Exit with 1 only for findings of at least this severity."},
        "exit-zero": {"type": "boolean", "description": "Exit with 0 even if there are findings."},
        "checks": list_of(_check(list(SEVERITIES)), "Rules of your own, as expressions of CEL."),
        "exclude": list_of(TEXT, "Files and folders to leave out; `*` and `?` are wildcards as in a shell."),
    }
    return {"$schema": DIALECT, "title": "Configuration of trainyard", **object_of(fields, required=())}


def object_of(
    fields: dict[str, Any], description: str = "", *, required: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Returns the schema of an object without other fields; all are required unless `required` names some."""
    names = list(fields) if required is None else list(required)
    result: dict[str, Any] = {"type": "object", "properties": fields, "additionalProperties": False}
    return _described({**result, **({"required": names} if names else {})}, description)


def list_of(items: dict[str, Any], description: str = "") -> dict[str, Any]:
    """Returns the schema of a list."""
    return _described({"type": "array", "items": items}, description)


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description} if description else schema


def _check(severities: list[str]) -> dict[str, Any]:
    cases = list_of({"type": ["string", "object"]})
    fields = {
        "code": {"type": "string", "pattern": "^[A-Z]{2,8}[0-9]{3,4}$"},
        "name": {"type": "string", "pattern": "^[a-z][a-z0-9]*(-[a-z0-9]+)+$"},
        "severity": {"enum": severities, "default": "error"},
        "subject": {"enum": ["object", "run", "role", "pod", "container"], "default": "object"},
        "expression": {**TEXT, "description": "An expression of CEL that is true for a correct subject."},
        "message": {**TEXT, "description": "What is wrong if the expression is false."},
        "messageExpression": {**TEXT, "description": "An expression that returns a message with values."},
        "help": {**TEXT, "description": "What to write instead."},
        "link": {**TEXT, "description": "The address of a page about the check."},
        "description": {**TEXT, "description": "The page that `trainyard explain` prints."},
        "at": {**TEXT, "description": "The field at which a finding is shown, below the subject."},
        "match": object_of(
            {name: list_of(TEXT) for name in ("kinds", "namespaces", "resources")},
            "The objects that the check judges.",
            required=(),
        ),
        "cases": object_of({"good": cases, "bad": cases}, "Manifests, or files, that test the check.", required=()),
    }
    return object_of(fields, required=("code", "name", "expression", "message"))


def _parameters(rule: Any) -> dict[str, Any]:
    from trainyard.engine import parameters

    fields = {name.replace("_", "-"): _typed(value) for name, value in parameters.default_parameters(rule).items()}
    return object_of(fields, rule.name, required=())


def _typed(default: Any) -> dict[str, Any]:
    if isinstance(default, tuple):
        return {**list_of(_typed(default[0]) if default else TEXT), "default": list(default)}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return {"type": kinds[type(default)], "default": default}
