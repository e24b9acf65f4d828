"""Strict JSON Schemas of Kubernetes' own kinds, from the OpenAPI document in its source.

kubeconform would download such files. These come from the module that the harness builds its cluster from, so that
manifests are checked against the version on which they will run, and without network access.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.harness.cluster import cache, tools
from tests.harness.cluster.modules import source

DRAFT = "http://json-schema.org/draft-07/schema#"
# The template by which kubeconform finds the file of a kind: `pod-v1.json`, `deployment-apps-v1.json`.
FILE_TEMPLATE = "{{.ResourceKind}}{{.KindSuffix}}.json"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

Schema = dict[str, Any]

_REFERENCE = "#/definitions/"
_DEFINITIONS = "definitions.json"
_QUANTITY = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"
# Types that are strings in the document, but for which the API server accepts other JSON types, too. A Go client writes
# an unset time as null.
_SCALARS: dict[str, Schema] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"], "pattern": _QUANTITY},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer"]},
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": ["string", "null"], "format": "date-time"},
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": {"type": ["string", "null"], "format": "date-time"},
}


def folder() -> Path:
    """Return the folder with one file per kind, named by `FILE_TEMPLATE`; written once per version of Kubernetes."""
    key = f"{tools.module_version('kubernetes')}-{cache.digest(Path(__file__))}"
    return cache.cached("kubernetes-schemas", key, _build)


def definition(name: str) -> Schema:
    """Return the schema of one definition, such as `OBJECT_META`, with all definitions that it refers to."""
    definitions = json.loads((folder() / _DEFINITIONS).read_text())
    return {**definitions[name], "definitions": _reachable(definitions, definitions[name])}


def _build(target: Path) -> None:
    document = source("kubernetes", "k8s.io/kubernetes") / "api" / "openapi-spec" / "swagger.json"
    loose: dict[str, Schema] = json.loads(document.read_text())["definitions"]
    definitions = {name: _SCALARS.get(name) or _strict(schema) for name, schema in loose.items()}
    (target / _DEFINITIONS).write_text(json.dumps(definitions))
    for name, group, version, kind in _kinds(loose):
        suffix = "-".join([*([group.split(".")[0]] if group else []), version])
        api_version = f"{group}/{version}" if group else version
        schema = of_kind(api_version, kind, definitions[name])
        schema["definitions"] = _reachable(definitions, schema)
        (target / f"{kind}-{suffix}.json".lower()).write_text(json.dumps(schema))


def of_kind(api_version: str, kind: str, schema: Schema) -> Schema:
    """Return the schema of a whole object: `schema` with `apiVersion` and `kind` required."""
    properties = schema["properties"] | {"apiVersion": {"enum": [api_version]}, "kind": {"enum": [kind]}}
    required = sorted({*schema.get("required", []), "apiVersion", "kind"})
    return {"$schema": DRAFT, **schema, "properties": properties, "required": required}


def _kinds(definitions: dict[str, Schema]) -> Iterator[tuple[str, str, str, str]]:
    """Yield name, group, version and kind of the definitions of objects; request options belong to several groups."""
    for name, schema in definitions.items():
        match schema.get("x-kubernetes-group-version-kind"):
            case [{"group": str(group), "version": str(version), "kind": str(kind)}]:
                yield name, group, version, kind


def _strict(schema: Schema) -> Schema:
    """Return a definition without descriptions, with unlisted properties forbidden."""
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    result = {key: value for key, value in schema.items() if key in ("type", "format", "required")}
    if "items" in schema:
        result["items"] = _strict(schema["items"])
    if "additionalProperties" in schema:
        result["additionalProperties"] = _strict(schema["additionalProperties"])
    elif "properties" in schema:
        result["properties"] = {name: _strict(property_) for name, property_ in schema["properties"].items()}
        result["additionalProperties"] = False
    return result


def _reachable(definitions: dict[str, Schema], start: Schema) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    pending = set(_references(start))
    while pending:
        name = pending.pop()
        if name not in found:
            found[name] = definitions[name]
            pending |= set(_references(definitions[name]))
    return dict(sorted(found.items()))


def _references(schema: Schema) -> Iterable[str]:
    """Yield the names of the definitions that a strict schema refers to; a property may itself be called `$ref`."""
    if "$ref" in schema:
        yield schema["$ref"].removeprefix(_REFERENCE)
    nested = [schema.get("items"), schema.get("additionalProperties"), *schema.get("properties", {}).values()]
    for child in nested:
        if isinstance(child, dict):
            yield from _references(child)
