"""A variable stands twice in the container's `env`; Kubernetes takes the last entry and says so only in a warning.

The API server accepts both entries, and the container gets the value of the last: the one that is read first has no
effect. `kubectl apply` merges the list by name, so that it may later drop either of them; server-side apply, and with
it the drift detection of some delivery tools, refuses the object with "duplicate entries for key".

An entry that overrides one of `envFrom` is left alone, and so is one that extends its predecessor, as `PATH` with the
value `/opt/bin:$(PATH)`.

Remove the entry that should not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.fields import items, text
from validator.model import Container
from validator.rule import Problem, Remove, rule

REFERENCE = re.compile(r"\$\(([^()]+)\)")


@rule(
    code="HV003",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes/api v0.34.4 core/v1/types.go: Container.Env has patchMergeKey name",
        "kubernetes/kubernetes v1.34.4 pkg/api/pod/warnings.go: hides previous definition of a variable",
        "kubernetes/kubectl issue 1766; fluxcd/helm-controller issue 1333",
    ),
    fix="safe",
)
def duplicate_env(container: Container) -> Iterator[Problem]:
    """All entries of one name but the last."""
    entries = items(container.tree, "env")
    last = {text(entry, "name"): index for index, entry in enumerate(entries)}
    if len(last) == len(entries):
        return
    at = container.at.child("env")
    used = _last_use(entries, last)
    for index, entry in enumerate(entries):
        name = text(entry, "name")
        if not name or last[name] == index or used.get(name, -1) > index:
            continue
        yield Problem(
            at.child(index, "name"),
            f"{name} is set again below: this entry has no effect",
            "remove one of the two entries",
            (Remove(at.child(index)),),
            ((at.child(last[name], "name"), "the entry that counts"),),
        )


def _last_use(entries: list[Any], last: dict[str, int]) -> dict[str, int]:
    """Index of the last entry that has `$(NAME)` in its value, up to where the name is set for the last time."""
    return {
        name: index
        for index, entry in enumerate(entries)
        for name in REFERENCE.findall(text(entry, "value"))
        if index <= last.get(name, -1)
    }
