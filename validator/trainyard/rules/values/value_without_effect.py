"""The value has no effect: the chart renders the same objects with any other value.

A chart reads only the values that its templates use, many of them only under a condition. A correctly spelt value can
therefore be unused: `checkpoints.size` next to `checkpoints.existingClaim`, `train.module` next to `train.script`, or
a key of an older release of the chart. Its author expects an effect that does not happen.

To find such values, the rule changes each value in the file and renders the chart again; if all objects stay the same,
the value has no effect. It also reports a value that only the chart's notes or hooks use, and one that has an effect
only in another combination, so read the finding as a question. It skips values below `enabled: false`, files with
more than 1,000 values or 64 KiB, and all but the first document of a file. Remove the value, or set the value that
activates it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trainyard.document.source import Path
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.json_schema import format_path

if TYPE_CHECKING:
    from trainyard.loaders.training_job.values import ValuesDocument


@rule(
    code="HV004",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=("helm/helm v3.22 pkg/engine: only what a template names reaches its output",),
)
def value_without_effect(document: ValuesDocument) -> Iterator[Problem]:
    """Report a value that can be changed without changing any object."""
    unknown = {fault.path for fault in document.faults()}
    for path in document.inert():
        if any(path[:length] in unknown for length in range(1, len(path) + 1)):
            continue
        place = document.place(path, on_key=True)
        if not _switched_off(place.document.tree, path):
            yield Problem(place, f"{format_path(path)} has no effect: no rendered object depends on it", "remove it")


def _switched_off(tree: Any, path: Path) -> bool:
    for step in path[:-1]:
        tree = tree[step]
        if isinstance(tree, dict) and tree.get("enabled") is False:
            return True
    return False
