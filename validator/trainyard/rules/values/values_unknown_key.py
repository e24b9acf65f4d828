"""The chart has no value of this name: `helm install` ends with an error, and nothing is created.

The chart's schema rejects a key that it does not know, but only when the run is submitted, after the review. Without
this check by the schema, Helm would keep a key that no template reads, and `sharedMemroy.size: 64Gi` would install a
run with the default size.

The usual causes are a typo, a key at the wrong depth (`limits` next to `resources` instead of below it), and a value
of an older release of the chart. Correct the name, move the key to its place in the chart's `values.yaml`, or remove
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list

if TYPE_CHECKING:
    from trainyard.loaders.training_job.values import ValuesDocument


@rule(
    code="HV005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "helm/helm v3.22 pkg/chart/v2/util: CoalesceValues keeps keys that the chart's values.yaml lacks",
        "charts/training-job/values.schema.json: additionalProperties is false",
    ),
    fix="unsafe",
)
def values_unknown_key(document: ValuesDocument) -> Iterator[Problem]:
    """Report a key that the chart does not know."""
    for fault in document.faults():
        if fault.kind != "unknown key":
            continue
        at, name = document.place(fault.path, on_key=True), str(fault.path[-1])
        meant = _similar(name, fault.known)
        if meant is None:
            known = format_list(f"`{key}`" for key in sorted(fault.known))
            yield Problem(at, fault.message, f"valid keys here: {known}" if known else "")
        else:
            yield Problem(at, fault.message, f"did you mean `{meant}`?", (Rename(at, meant),))


def _similar(name: str, known: tuple[str, ...]) -> str | None:
    folded = {key.lower().replace("_", "").replace("-", ""): key for key in known}
    found = closest_match(name.lower().replace("_", "").replace("-", ""), folded, 0.75)
    return folded[found] if found is not None else None
