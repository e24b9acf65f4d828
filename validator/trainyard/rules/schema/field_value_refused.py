"""The value has the wrong type, or is not one that the field takes: the API server refuses the whole object.

Nothing is created, with an error such as "cannot unmarshal string into Go struct field PodSpec.hostNetwork of type
bool" or "Unsupported value". The usual causes are quotes around a number or `true`, missing quotes around a number in
`args` or in an annotation, a single word where a list is expected, and names with other capitals (`always` for
`Always`).

Kubernetes takes numbers and texts as quantities (`cpu: 2`, `cpu: "2"`), and null for every field that is not required.
The limits are those of the API server and of the operators' CRDs. Rules of a CRD that compare several fields are not
checked. A text that a program fills in later, such as `{{ .Values.replicas }}` or `${REPLICAS}`, fits every field.
kustomize reads `yes`, `off` and their like as texts, and writes them in quotes.

Write a value of the type that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.scalars import is_quoted_by_kustomize, unquoted_scalar
from trainyard.document.document import Edit, SetValue
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Misfit

_SWITCHES = {"true": True, "false": False}


@rule(
    code="SM003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 api/openapi-spec/swagger.json; k8s.io/api v0.34.4: types marked +enum",
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: NotSupported",
        "schemas/crds: types, enumerations, patterns and bounds of the CRDs",
    ),
    fix="unsafe",
)
def field_value_refused(misfit: Misfit) -> Iterator[Problem]:
    """Report a value that does not fit the type of its field."""
    if misfit.fault != "wrong value" or (misfit.wanted == "s" and is_quoted_by_kustomize(misfit.at, misfit.value)):
        return
    value, told = _right(misfit), misfit.help
    edits: tuple[Edit, ...] = ()
    if value is not None:
        edits = (SetValue(misfit.at, value),)
        told = told or f"write `{_written(value)}`"
    yield Problem(misfit.at, misfit.message, told, edits)


def _right(misfit: Misfit) -> Any:
    """Returns the value that was meant, None if there is none."""
    value = misfit.value
    if misfit.name is not None:
        return misfit.name
    if misfit.wanted == "b" and isinstance(value, str):
        return _SWITCHES.get(value.lower())
    if misfit.wanted == "i" and isinstance(value, str):
        return decimal(value)
    if misfit.wanted == "s" and isinstance(value, bool | int | float):
        return unquoted_scalar(misfit.at)
    return None


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
