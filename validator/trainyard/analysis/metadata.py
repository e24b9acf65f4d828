"""The labels and annotations of an object with pods, and those of its pod templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.document.document import Place
from trainyard.facts.metadata_keys import ANNOTATION, BY_NAME, BY_WORD, GROUP, LABEL
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
    return [*_own(run), *(one for role in run.roles for one in _of_pod(role.pod) if run.kind != "Pod")]


def _own(run: Run) -> Iterator[Written]:
    for field, names in ((LABEL, run.labels), (ANNOTATION, run.annotations)):
        for name in filter(_is_near, names):
            yield Written(name, field, of_pod=False, at=run.at.child("metadata", field, name))


def _of_pod(pod: Pod) -> Iterator[Written]:
    for field, names in ((LABEL, pod.labels), (ANNOTATION, pod.annotations)):
        for name in filter(_is_near, names):
            yield Written(name, field, of_pod=True, at=pod.template_at.child("metadata", field, name))


def _is_near(name: object) -> bool:
    return isinstance(name, str) and name.rpartition("/")[2] in _WORDS


_WORDS = frozenset((*BY_WORD, *(name.rpartition("/")[2] for name in (*BY_NAME, GROUP))))
# Two rules ask for each run.
_written = LastIndex(_find_written)
