"""The value of a variable must be a string: the API server rejects a number or a boolean.

`value` of an `env` entry, and each value in a ConfigMap's `data`, has the type string. YAML reads an unquoted `1`,
`true` or `yes` as a number or a boolean, and the API server rejects the object with "cannot unmarshal number into Go
struct field EnvVar.value of type string". Nothing is created. A Helm chart has the same fault when a template prints a
value without `quote`.

Kubernetes reads YAML 1.1, where `yes`, `no`, `on`, `off`, `y` and `n` are also booleans. kustomize reads them as
texts, and writes quotes.

A null value is the empty string and is not reported. Neither is a word in braces, `{name}`, which a program replaces.

Put quotes around the value.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.scalars import is_quoted_by_kustomize, unquoted_scalar
from trainyard.document.document import SetValue
from trainyard.document.placeholders import is_word_in_braces
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.manifests.pods import as_text
from trainyard.model.run import Setting

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
    """Report a number, a boolean or a structure as the value of a variable."""
    kind = TYPES.get(type(setting.raw))
    if (
        kind is None
        or is_word_in_braces(setting.raw)
        or setting.via not in ("env", "envFrom")
        or is_quoted_by_kustomize(setting.at, setting.raw)
    ):
        return
    text = unquoted_scalar(setting.at) or as_text(setting.raw)
    yield Problem(
        setting.at,
        f"the value of {setting.name} is a {kind}, not a string: Kubernetes rejects the object",
        f'write "{text}"' if text is not None else "write one string",
        (SetValue(setting.at, text),) if text is not None else (),
    )
