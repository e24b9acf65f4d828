"""Nothing that the chart renders depends on this value: the run is the same with any other.

A chart reads only the values that its templates name, and many of them only under a condition. So a value can be spelt
rightly and still be idle: `checkpoints.size` beside `checkpoints.existingClaim`, `train.module` beside `train.script`,
a key of an older release of the chart. Who wrote it expects something that does not happen.

To find out, each value in the file is changed and the chart rendered again; where all objects stay as they were, the
value has no effect. A value that only the notes of the chart or its hooks use is reported too, and so is one that does
nothing in this combination but something in another: read the finding as a question. What stands below `enabled: false`
is left alone, and so is a file with more than 500 values. Remove the value, or set what brings it to life.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from validator.roads.schema import dotted
from validator.rule import Problem, rule
from validator.source import Path

if TYPE_CHECKING:
    from validator.roads.values import ValuesDocument


@rule(
    code="HV004",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=("helm/helm v3.22 pkg/engine: only what a template names reaches its output",),
)
def value_without_effect(document: ValuesDocument) -> Iterator[Problem]:
    """A value that can be changed without changing any object."""
    unknown = {fault.path for fault in document.faults()}
    for path in document.inert():
        if any(path[:length] in unknown for length in range(1, len(path) + 1)):
            continue
        place = document.place(path, on_key=True)
        if not _switched_off(place.document.tree, path):
            yield Problem(place, f"nothing that the chart renders depends on {dotted(path)}", "remove it")


def _switched_off(tree: Any, path: Path) -> bool:
    for step in path[:-1]:
        tree = tree[step]
        if isinstance(tree, dict) and tree.get("enabled") is False:
            return True
    return False
