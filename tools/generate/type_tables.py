"""Tables of the fields of each kind, by which the validator checks objects: the schemas in a compact form.

A schema of one job is 180 kB of JSON, most of it pod templates that all kinds share. A table holds each distinct type
once, on a line, and a few milliseconds of parsing become one. `trainyard.loaders.schemas.table` reads the tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.harness.cluster.modules import source
from tools.generate import crd_schemas, go_enums

FOLDER = Path("validator/trainyard/facts/types")
FILES = f"{FOLDER}/*.txt"
KUBERNETES = "kubernetes"
KINDS = "kinds.txt"

Schema = dict[str, Any]

_API = "io.k8s.api."
_REFERENCE = "#/definitions/"
_SCALARS = {"string": "s", "integer": "i", "boolean": "b", "number": "n"}
_ANYTHING = "a"
# By the end of a definition's name. Definitions of JSON Schema, and templates of groups of pod groups, refer to
# themselves.
_SPECIAL = {
    ".api.resource.Quantity": "q", ".util.intstr.IntOrString": "x", ".meta.v1.Time": "s", ".meta.v1.MicroTime": "s",
    ".CompositePodGroupTemplate": _ANYTHING,
    ".JSONSchemaProps": _ANYTHING, ".JSON": _ANYTHING, ".RawExtension": _ANYTHING, ".FieldsV1": _ANYTHING,
}  # fmt: skip
# Answers of the API server, and envelopes: nobody writes these in a file.
_LEFT_OUT = re.compile(r"List$|^(API|Delete|Watch|Status|Binding|Component|TokenRe|.*Review$|Scale$|Eviction$)")
_LIMITS = (
    "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern",
)  # fmt: skip
# A JSON Schema ignores them at a list; the CRDs of Karpenter have them there.
_OF_TEXTS = ("minLength", "maxLength", "pattern")
# The fields without which an API server refuses an object. Others that the document calls required have defaults, or
# may be empty. Found by asking the API server 1.34.4 for dry runs of the objects in
# tests/validator/loaders/schemas/objects.yaml without each of them.
_ENFORCED: dict[str, tuple[str, ...]] = {
    "AppArmorProfile": ("type",),
    "CSIVolumeSource": ("driver",),
    "ClusterRoleBinding": ("roleRef",),
    "ConfigMapKeySelector": ("key",),
    "Container": ("name",),
    "ContainerPort": ("containerPort",),
    "CronJobSpec": ("jobTemplate", "schedule"),
    "CrossVersionObjectReference": ("kind", "name"),
    "DaemonSetSpec": ("selector", "template"),
    "DeploymentSpec": ("selector", "template"),
    "DownwardAPIVolumeFile": ("path",),
    "EnvVar": ("name",),
    "HTTPGetAction": ("port",),
    "HTTPIngressPath": ("backend", "pathType"),
    "HTTPIngressRuleValue": ("paths",),
    "HorizontalPodAutoscalerSpec": ("maxReplicas", "scaleTargetRef"),
    "HostAlias": ("ip",),
    "HostPathVolumeSource": ("path",),
    "IPBlock": ("cidr",),
    "IngressServiceBackend": ("name",),
    "JobSpec": ("template",),
    "KeyToPath": ("key", "path"),
    "LabelSelectorRequirement": ("key", "operator"),
    "LimitRangeItem": ("type",),
    "MetricSpec": ("type",),
    "MetricTarget": ("type",),
    "NFSVolumeSource": ("path", "server"),
    "NodeSelector": ("nodeSelectorTerms",),
    "NodeSelectorRequirement": ("key", "operator"),
    "ObjectFieldSelector": ("fieldPath",),
    "PersistentVolumeClaimVolumeSource": ("claimName",),
    "PodAffinityTerm": ("topologyKey",),
    "PodFailurePolicyOnExitCodesRequirement": ("operator", "values"),
    "PodFailurePolicyRule": ("action",),
    "PodSpec": ("containers",),
    "PolicyRule": ("verbs",),
    "PreferredSchedulingTerm": ("weight",),
    "ResourceFieldSelector": ("resource",),
    "ResourceMetricSource": ("name", "target"),
    "RoleBinding": ("roleRef",),
    "RoleRef": ("kind", "name"),
    "RuntimeClass": ("handler",),
    "ScopedResourceSelectorRequirement": ("operator", "scopeName"),
    "SeccompProfile": ("type",),
    "SecretKeySelector": ("key",),
    "ServiceAccountTokenProjection": ("path",),
    "ServicePort": ("port",),
    "StatefulSetSpec": ("selector", "template"),
    "StorageClass": ("provisioner",),
    "Subject": ("kind", "name"),
    "TCPSocketAction": ("port",),
    "TopologySpreadConstraint": ("maxSkew", "topologyKey", "whenUnsatisfiable"),
    "Volume": ("name",),
    "VolumeMount": ("mountPath", "name"),
    "WeightedPodAffinityTerm": ("podAffinityTerm", "weight"),
}


# Fields of Kubernetes 1.35 and 1.36 that 1.37 does not have.
_DROPPED_LATER = {"core.v1.PodSpec": ("workloadRef",)}

# Types of fields, by the field that holds them, in releases of an operator that are still in use. Rules that know the
# release judge the values.
_EARLIER = {
    # kubeflow/trainer v2.1.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: an IntOrString. KF014 reports words.
    ("trainer", "numProcPerNode"): "x",
}


class Table:
    """The types of one file, each under a name that the first field of this type gives it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self.roots: dict[str, str] = {}

    def add_root(self, api_version: str, kind: str, reference: str) -> None:
        """Add a kind, whose objects have the type `reference`."""
        self.roots[f"{api_version} {kind}"] = reference

    def intern(self, body: str, hint: str) -> str:
        """Return the name of the type with this body."""
        if body not in self._names:
            name = base = hint[:1].upper() + hint[1:]
            number = 2
            while name in self._lines:
                name, number = f"{base}{number}", number + 1
            self._names[body] = name
            self._lines[name] = body
        return self._names[body]

    def text(self) -> str:
        """Return the content of the file."""
        return "".join(f"{name}\t{body}\n" for name, body in {**self.roots, **self._lines}.items())


def write(root: Path) -> None:
    """Write one table for Kubernetes, one for each API group with CRDs, and the list of all kinds."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    tables = {KUBERNETES: _kubernetes(), **_crds(root)}
    for name, table in tables.items():
        (folder / f"{name}.txt").write_text(table.text(), encoding="utf-8")
    write_kinds(folder, tables.values())


def write_kinds(folder: Path, tables: Iterable[Table]) -> None:
    """Write the list of the kinds of tables, with their API versions."""
    versions: dict[str, list[str]] = {}
    for api_version, kind in (root.split() for table in tables for root in table.roots):
        versions.setdefault(kind, []).append(api_version)
    lines = (f"{kind}\t{' '.join(sorted(found))}\n" for kind, found in sorted(versions.items()))
    (folder / KINDS).write_text("".join(lines), encoding="utf-8")


def _crds(root: Path) -> dict[str, Table]:
    tables = {}
    for group in sorted((root / crd_schemas.FOLDER).iterdir()):
        table = tables[group.name] = Table()
        for file in sorted(group.glob("*.json")):
            schema = json.loads(file.read_text())
            kind, api_version = (schema["properties"][name]["enum"][0] for name in ("kind", "apiVersion"))
            table.add_root(api_version, kind, Crd(table, schema["definitions"]).of(any_version(schema), kind))
    return tables


def _kubernetes() -> Table:
    document = source("kubernetes", "k8s.io/kubernetes") / "api" / "openapi-spec" / "swagger.json"
    definitions: dict[str, Schema] = json.loads(document.read_text())["definitions"]
    table = Table()
    enums = go_enums.enums(source("kubernetes", "k8s.io/api"))
    # The newest API that is pinned here: its fields are right on newer clusters.
    newer = source("helm4", "k8s.io/api")
    reader = _BuiltIn(table, definitions, go_enums.joined(enums, go_enums.enums(newer)), go_enums.fields(newer))
    for name, api_version, kind in _kinds(definitions):
        table.add_root(api_version, kind, reader.of_definition(name))
    return table


def _kinds(definitions: dict[str, Schema]) -> Iterator[tuple[str, str, str]]:
    for name, schema in definitions.items():
        match schema.get("x-kubernetes-group-version-kind"):
            case [{"group": str(group), "version": str(version), "kind": str(kind)}] if not _LEFT_OUT.search(kind):
                yield name, f"{group}/{version}" if group else version, kind


def any_version(schema: Schema) -> Schema:
    """Return the schema of an object that takes any `apiVersion`, `kind` and `status`."""
    loose: dict[str, Schema] = {name: {} for name in ("apiVersion", "kind", "status") if name in schema["properties"]}
    required = [name for name in schema.get("required", ()) if name not in loose]
    return {**schema, "properties": {**schema["properties"], **loose}, "required": required}


class Crd:
    """Adds the types of a JSON Schema to a table."""

    def __init__(self, table: Table, definitions: dict[str, Schema]) -> None:
        self.table = table
        self.definitions = definitions
        self._known: dict[str, str] = {}

    def of(self, schema: Schema, hint: str) -> str:
        """Return the reference to the type of a schema; `hint` is the name of its field."""
        if "$ref" in schema:
            return self.of_definition(schema["$ref"].removeprefix(_REFERENCE))
        kinds = schema.get("type")
        kind = next((one for one in kinds if one != "null"), None) if isinstance(kinds, list) else kinds
        limits = {key: schema[key] for key in _LIMITS if key in schema and not (kind == "array" and key in _OF_TEXTS)}
        if "anyOf" in schema and {one.get("type") for one in schema["anyOf"]} == {"integer", "string"}:
            return "q" if "pattern" in schema else "x"
        if "enum" in schema and kind == "string":
            limits = {"enum": "|".join(schema["enum"])}
        reference = self._reference(schema, kind, hint)
        if not limits or reference == _ANYTHING:
            return reference
        told = "\t".join([reference, *(f"{key}={value}" for key, value in limits.items())])
        return self.table.intern(told, f"~{hint}")

    def of_definition(self, name: str) -> str:
        """Return the reference to the type of a definition."""
        special = next((reference for end, reference in _SPECIAL.items() if name.endswith(end)), None)
        if special is not None:
            return special
        if name not in self._known:
            self._known[name] = self.of(self._definition(name), name.rsplit(".", 1)[-1])
        return self._known[name]

    def _definition(self, name: str) -> Schema:
        return self.definitions[name]

    def _reference(self, schema: Schema, kind: str | None, hint: str) -> str:
        others = schema.get("additionalProperties")
        match kind:
            case "array":
                return "[" + self.of(schema.get("items", {}), hint)
            case "object" if "properties" in schema:
                return self._type(schema, others, hint)
            case "object" if others is False:
                return self.table.intern("", "empty")
            case "object":
                return "{" + self.of(others if isinstance(others, dict) else {}, hint)
        return _SCALARS.get(kind or "", _ANYTHING)

    def _type(self, schema: Schema, others: Any, hint: str) -> str:
        required = set(schema.get("required", ()))
        fields = []
        for name, property_ in schema["properties"].items():
            # A field with a default is never missing.
            mark = "!" if name in required and "default" not in property_ else ""
            fields.append(f"{name}{mark}={_EARLIER.get((hint, name)) or self.of(property_, name)}")
        if others is not False:
            fields.append(f"*={self.of(others, hint) if isinstance(others, dict) else _ANYTHING}")
        return self.table.intern(" ".join(sorted(fields)), hint)


class _BuiltIn(Crd):
    """Adds the types of Kubernetes, whose document leaves the names of a field's values to the Go source."""

    def __init__(
        self, table: Table, definitions: dict[str, Schema], enums: go_enums.Enums, fields: dict[str, list[str]]
    ) -> None:
        super().__init__(table, definitions)
        self._enums = enums
        self._fields = fields

    def _definition(self, name: str) -> Schema:
        schema = super()._definition(name)
        if "properties" not in schema:
            return schema
        if "x-kubernetes-group-version-kind" in schema:
            schema = any_version(schema)
        known = self._enums.get(name.removeprefix(_API), {})
        properties = {
            field: _with_enum(property_, known[field]) if field in known else property_
            for field, property_ in schema["properties"].items()
        }
        names = (*self._fields.get(name.removeprefix(_API), ()), *_DROPPED_LATER.get(name.removeprefix(_API), ()))
        properties |= {field: {} for field in names if field not in properties}
        title = name.rsplit(".", 1)[-1]
        required = [field for field in schema.get("required", ()) if field in _ENFORCED.get(title, ())]
        return {**schema, "properties": properties, "required": required, "additionalProperties": False}


def _with_enum(property_: Schema, values: list[str]) -> Schema:
    if property_.get("type") == "array":
        return {**property_, "items": {"type": "string", "enum": values}}
    return {**property_, "enum": values} if property_.get("type") == "string" else property_
