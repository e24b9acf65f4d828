"""Helm reads this value as a boolean or another number, and the variable does not get what is written here.

Values files are YAML 1.1 to Helm: `on`, `yes` and `y` are true, `off`, `no` and `n` are false, `010` is 8, `0x10` is 16
and `1_000` is 1000. What a chart then prints into the environment is `true` or `8`, so that a program which looks for
`on`, or a device list that begins with a zero, gets something else. Printed without quotes the API server refuses it.

Found below keys such as `env`, `extraEnv` and `envVars` of a values file. `true` and `false` print as they are written
and are left alone, as is everything in quotes.

Put quotes around the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.aspects.written import plain
from validator.rule import Problem, SetValue, rule
from validator.source import Document, Place

KEYS = frozenset(
    ("env", "envs", "extraEnv", "extraEnvs", "extraEnvVars", "envVars", "environment", "environmentVariables")
)
WORD = re.compile(r"(?:y|n|yes|no|on|off)\Z", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?0[0-9xXoObB_]|[-+]?[0-9]+_")
# Values files nest their parts a few levels deep; what is deeper is data.
DEPTH = 6


@rule(
    code="HV002",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "yaml.org/type/bool.html and yaml.org/type/int.html (YAML 1.1)",
        "helm/helm v3.18.0 pkg/chartutil/values.go: ReadValues uses sigs.k8s.io/yaml",
    ),
    fix="safe",
)
def yaml_1_1_bool_or_octal(document: Document) -> Iterator[Problem]:
    """Unquoted words and numbers that YAML 1.1 reads as something else."""
    if not isinstance(document.tree, dict) or "kind" in document.tree:
        return
    for value, at in _variables(document.tree, Place(document), 0):
        written = plain(at) if isinstance(value, bool | int) else None
        if written is not None and (WORD.match(written) or NUMBER.match(written)):
            read = str(value).lower()
            message = f"Helm reads `{written}` as {read}: {at.path[-1]} does not get what is written"
            yield Problem(at, message, f'write "{written}"', (SetValue(at, written),))


def _variables(tree: dict[str, Any], at: Place, depth: int) -> Iterator[tuple[Any, Place]]:
    for key, value in tree.items():
        if key in KEYS:
            yield from _entries(value, at.child(key))
        elif isinstance(value, dict) and depth < DEPTH:
            yield from _variables(value, at.child(key), depth + 1)


def _entries(tree: Any, at: Place) -> Iterator[tuple[Any, Place]]:
    if isinstance(tree, dict):
        yield from ((value, at.child(name)) for name, value in tree.items())
    elif isinstance(tree, list):
        for index, entry in enumerate(tree):
            if isinstance(entry, dict) and "value" in entry:
                yield entry["value"], at.child(index, "value")
