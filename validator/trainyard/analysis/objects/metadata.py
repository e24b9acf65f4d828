"""The labels and annotations of an object with pods, and those of its pod templates."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.document.document import Place
from trainyard.facts.kubernetes.metadata_keys import ANNOTATION, BY_NAME, BY_WORD, FORMER, GROUP, LABEL, MISSPELT
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Run
from trainyard.startup import NamedTuple


class Written(NamedTuple):
    """A label or an annotation; `of_pod` is true for one of a pod template."""

    name: str
    field: str
    of_pod: bool
    at: Place


def written(run: Run) -> Sequence[Written]:
    """Returns the labels and annotations of a run and of its pods that are known, or end like one that is."""
    return _written.of(run)


def _find_written(run: Run) -> list[Written]:
    found = _near(run, run.at, of_pod=False)
    if run.kind != "Pod":
        for role in run.roles:
            found += _near(role.pod, role.pod.template_at, of_pod=True)
    return found


def _near(holder: Run | Pod, at: Place, *, of_pod: bool) -> list[Written]:
    return [
        Written(name, field, of_pod, at.child("metadata", field, name))
        for field, names in ((LABEL, holder.labels), (ANNOTATION, holder.annotations))
        for name in names
        if isinstance(name, str) and name.rpartition("/")[2] in _WORDS
    ]


_WORDS = frozenset((*BY_WORD, *(name.rpartition("/")[2] for name in (*BY_NAME, *FORMER, *MISSPELT, GROUP))))
# Two rules ask for each run.
_written = LastIndex(_find_written)
