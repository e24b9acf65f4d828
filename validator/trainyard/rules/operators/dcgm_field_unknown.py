"""A metric has the form of a field of DCGM, and DCGM has no field of this name.

dcgm-exporter serves fields of DCGM under their names, such as `DCGM_FI_DEV_GPU_TEMP`. An alert or a recorded value on a
name that does not exist evaluates to nothing, and Prometheus shows it as healthy. In the exporter's own list of
metrics, such a name is an error.

The rule reads the expressions of PrometheusRules, and lists of metrics in ConfigMaps. It knows the fields of DCGM 3.3
to 4.6, and reports names that resemble one of them.

Write the name of the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.hardware.dcgm import dcgm_fields
from trainyard.model.run import Resource

_FIELD = re.compile(r"\bDCGM_FI_[A-Z0-9_]+\b(?!\*|\.|\[)")
_LINE = re.compile(r"(DCGM_FI_[A-Z0-9_]+)[ \t]*,[ \t]*(?:gauge|counter|label)\b")
_ALIKE = 0.8


@rule(
    code="GO143",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/go-dcgm b7fa3154 and tags from v3.3.9 pkg/dcgm: dcgm_fields.h, const_fields.go",
        "NVIDIA/dcgm-exporter etc/default-counters.csv: a line is the name of a field, a type and a text",
    ),
    needs=("DCGM_FI_",),
)
def dcgm_field_unknown(resource: Resource) -> Iterator[Problem]:
    """Report names that no release of DCGM has."""
    reported: set[str] = set()
    for name, at in _names(resource):
        if name in reported or name in dcgm_fields():
            continue
        reported.add(name)
        near = closest_match(name, dcgm_fields(), _ALIKE)
        if near is not None:
            yield Problem(at, f"DCGM has no field `{name}`, so nothing exports it", f"did you mean `{near}`?")


def _names(resource: Resource) -> Iterator[tuple[str, Place]]:
    """Yields names of fields that a PrometheusRule queries, or that a list of metrics has."""
    for number, group in enumerate(items(resource.tree, "spec", "groups") if resource.kind == "PrometheusRule" else ()):
        for index, one in enumerate(items(group, "rules")):
            at = resource.at.child("spec", "groups", number, "rules", index, "expr")
            yield from ((name, at) for name in _FIELD.findall(text(one, "expr")))
    for key, value in mapping(resource.tree, "data").items() if resource.kind == "ConfigMap" else ():
        if isinstance(value, str) and "DCGM_FI_" in value:
            for line, content in enumerate(value.split("\n")):
                match = _LINE.match(content.lstrip())
                if match is not None:
                    yield match[1], resource.at.child("data", key).below(line)
