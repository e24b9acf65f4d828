"""Helm reads this value as a boolean or another number, so the variable gets a different value.

Helm reads values files as YAML 1.1: `on`, `yes` and `y` are true, `off`, `no` and `n` are false, `010` is 8, `0x10` is
16 and `1_000` is 1000. The chart then writes `true` or `8` into the environment, so a program that expects `on`, or a
device list that begins with a zero, gets something else. Without quotes in the template, the API server rejects the
object.

The rule checks values below keys such as `env`, `extraEnv` and `envVars` of a values file. It skips `true` and
`false`, which are printed as written, and everything in quotes.

Put quotes around the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.scalars import unquoted_scalar
from trainyard.document.document import Document, Place, SetValue
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.startup import pattern

KEYS = frozenset(
    ("env", "envs", "extraEnv", "extraEnvs", "extraEnvVars", "envVars", "environment", "environmentVariables")
)
WORD = pattern(r"(?:y|n|yes|no|on|off)\Z", re.IGNORECASE)
NUMBER = pattern(r"[-+]?0[0-9xXoObB_]|[-+]?[0-9]+_")
# Values files nest their sections a few levels deep; deeper levels are data.
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
    """Report unquoted words and numbers that YAML 1.1 reads as another value."""
    if not isinstance(document.tree, dict) or "kind" in document.tree or _is_compose(document.tree):
        return
    for name, value, at in _variables(document.tree, Place(document), 0):
        written = unquoted_scalar(at) if isinstance(value, bool | int) else None
        if written is not None and (WORD.match(written) or NUMBER.match(written)):
            read = str(value).lower()
            message = f"Helm reads `{written}` as {read}, so {name} gets another value"
            yield Problem(at, message, f'write "{written}"', (SetValue(at, written),))


def _is_compose(tree: dict[str, Any]) -> bool:
    """True for a file of Docker Compose, which Helm does not read."""
    services = tree.get("services")
    return isinstance(services, dict) and any(
        isinstance(one, dict) and not one.keys().isdisjoint(("image", "build")) for one in services.values()
    )


def _variables(tree: dict[str, Any], at: Place, depth: int) -> Iterator[tuple[str, Any, Place]]:
    for key, value in tree.items():
        if key in KEYS:
            yield from _entries(value, at.child(key))
        elif isinstance(value, dict) and depth < DEPTH:
            yield from _variables(value, at.child(key), depth + 1)


def _entries(tree: Any, at: Place) -> Iterator[tuple[str, Any, Place]]:
    if isinstance(tree, dict):
        yield from ((name, value, at.child(name)) for name, value in tree.items())
    elif isinstance(tree, list):
        for index, entry in enumerate(tree):
            if isinstance(entry, dict) and "value" in entry:
                yield text(entry, "name"), entry["value"], at.child(index, "value")
