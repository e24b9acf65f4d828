"""A parameter of the workflow stands in quotation marks where its manifest needs a number.

Argo replaces `{{inputs.parameters.NAME}}` in the text of the manifest and sends the result to the API server. Within
quotation marks the number becomes a text: `parallelism: "4"`. The API server refuses the object with "invalid type for
... got string, expected integer".

Remove the quotation marks around the parameter, so that a number remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.argo import spec_of
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.schemas.table import Table, table_of
from trainyard.model.run import Resource
from trainyard.startup import pattern

_PARAMETER = pattern(r"\{\{[^{}]+\}\}")
_LINE = pattern(r"""\s*(?:-\s+)?(?P<field>\w+):\s*(?P<mark>["'])(?P<value>\{\{[^{}]+\}\})(?P=mark)\s*(?:#.*)?""")
_NUMBERS = ("i", "n")


@rule(
    code="SM035",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/Netflix/metaflow pull 2516",
        "argoproj/argo-workflows v3.7.6 workflow/executor/resource.go: the manifest is text with replaced parameters",
    ),
    needs=("manifest",),
)
def workflow_number_in_quotes(resource: Resource) -> Iterator[Problem]:
    """Report parameters in quotation marks in fields of numbers."""
    spec = spec_of(resource)
    for template, at in spec.templates.values() if spec is not None else ():
        raw = text(mapping(template, "resource"), "manifest")
        if '"{{' not in raw and "'{{" not in raw:
            continue
        inner = embedded(at.child("resource", "manifest"), raw)
        if isinstance(inner, BrokenText) or not isinstance(inner.tree, dict):
            continue
        version, kind = text(inner.tree, "apiVersion"), text(inner.tree, "kind")
        table = table_of(version)
        root = table.root(version, kind) if table is not None else None
        if table is not None and root is not None:
            fields = frozenset(_numbers(table, root, inner.tree))
            yield from _lines(raw, fields, at.child("resource", "manifest"))


def _lines(raw: str, fields: frozenset[tuple[str, str]], at: Place) -> Iterator[Problem]:
    for number, line in enumerate(raw.split("\n")):
        found = _LINE.fullmatch(line)
        if found is not None and (found["field"], found["value"]) in fields:
            yield Problem(
                at.below(number),
                f"`{found['field']}` takes an integer, and quotation marks make `{found['value']}` a string: "
                "Kubernetes refuses the object",
                "remove the quotation marks",
            )


def _numbers(table: Table, reference: str, value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yields the fields of numbers that have a parameter alone as their text, each with that."""
    while reference.startswith("~"):
        reference = table.limited(reference).reference
    if reference in _NUMBERS:
        if isinstance(value, str) and _PARAMETER.fullmatch(value):
            yield name, value
    elif reference[0] in "[{" and isinstance(value, list | dict):
        for one in value if isinstance(value, list) else value.values():
            yield from _numbers(table, reference[1:], one)
    elif isinstance(value, dict) and len(reference) > 1:
        known = table.type(reference)
        for key, one in value.items():
            field = known.fields.get(key, known.others)
            if field is not None:
                yield from _numbers(table, field, one, str(key))
