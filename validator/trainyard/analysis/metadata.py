"""The labels and annotations of an object with pods, and those of its pod templates."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.facts.metadata_keys import ANNOTATION, LABEL
from trainyard.model.run import Run
from trainyard.startup import NamedTuple


class Written(NamedTuple):
    """A label or an annotation; `of_pod` is true for one of a pod template."""

    name: str
    field: str
    of_pod: bool
    at: Place


def written(run: Run) -> Iterator[Written]:
    """Yields the labels and annotations of a run and of its pods, each with its place."""
    for field, found in ((LABEL, run.labels), (ANNOTATION, run.annotations)):
        for name in found:
            yield Written(str(name), field, of_pod=False, at=run.at.child("metadata", field, name))
    if run.kind == "Pod":
        return
    for role in run.roles:
        for field, found in ((LABEL, role.pod.labels), (ANNOTATION, role.pod.annotations)):
            for name in found:
                yield Written(str(name), field, of_pod=True, at=role.pod.template_at.child("metadata", field, name))
