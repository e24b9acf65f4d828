"""A variable occurs twice in the container's `env`; Kubernetes uses the last entry and only warns.

The API server accepts both entries, and the container gets the value of the last one; the first has no effect.
`kubectl apply` merges the list by name, so it may later drop either of them. Server-side apply, and with it the drift
detection of some delivery tools, rejects the object with "duplicate entries for key".

The rule skips an entry that overrides one of `envFrom`, and one that extends its predecessor, such as `PATH` with the
value `/opt/bin:$(PATH)`.

Remove the entry that is not meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Remove
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container
from trainyard.startup import pattern

REFERENCE = pattern(r"\$\(([^()]+)\)")


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
    """Report all entries of one name but the last."""
    entries = items(container.tree, "env")
    last = {text(entry, "name"): index for index, entry in enumerate(entries)}
    if len(last) == len(entries):
        return
    at = container.at.child("env")
    used = _last_use(entries, last)
    for index, entry in enumerate(entries):
        name = text(entry, "name")
        if not name or last[name] == index or used.get(name, index) > index:
            continue
        yield Problem(
            at.child(index, "name"),
            f"{name} is set again below, so this entry has no effect",
            "remove one of the two entries",
            (Remove(at.child(index)),),
            ((at.child(last[name], "name"), "this entry is used"),),
        )


def _last_use(entries: list[Any], last: dict[str, int]) -> dict[str, int]:
    """Map each name to the last entry that has `$(NAME)` in its value, up to the last entry that sets the name."""
    return {
        name: index
        for index, entry in enumerate(entries)
        for name in REFERENCE.findall(text(entry, "value"))
        if name in last and index <= last[name]
    }
