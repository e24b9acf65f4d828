"""A variable's value must be a string: the API server refuses a number or a boolean.

`value` of an `env` entry, and each value in a ConfigMap's `data`, has the type string. An unquoted `1`, `true` or `yes`
is a number or a boolean to YAML, and the object is refused with "cannot unmarshal number into Go struct field
EnvVar.value of type string". Nothing is created. In a Helm chart the same happens when a template prints a value
without `quote`.

YAML of Kubernetes follows version 1.1: `yes`, `no`, `on`, `off`, `y` and `n` are booleans there too.

A value of null is the empty string and is left alone.

Put quotes around the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.written import plain
from validator.model import Setting
from validator.roads.pods import as_text
from validator.rule import Problem, SetValue, rule

TYPES = {bool: "boolean", int: "number", float: "number", list: "list", dict: "mapping"}


@rule(
    code="HV001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/api v0.34.4 core/v1/types.go: EnvVar.Value and ConfigMap.Data are strings",
        "kubernetes-sigs/yaml v1.6.0 yaml.go: YAMLToJSON resolves scalars as YAML 1.1 does",
    ),
    fix="safe",
)
def env_value_not_string(setting: Setting) -> Iterator[Problem]:
    """A number, a boolean or a structure as the value of a variable."""
    kind = TYPES.get(type(setting.raw))
    if kind is None or setting.via not in ("env", "envFrom"):
        return
    text = plain(setting.at) or as_text(setting.raw)
    yield Problem(
        setting.at,
        f"the value of {setting.name} is a {kind}: Kubernetes takes strings only and refuses the object",
        f'write "{text}"' if text is not None else "write one string",
        (SetValue(setting.at, text),) if text is not None else (),
    )
