"""Charts and their values on the way to the model: which road a file or a chart takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from validator import reading
from validator.source import Document, Source

if TYPE_CHECKING:
    from pathlib import Path


def expand(documents: Iterable[Document], below: Document | None = None) -> Iterator[Document]:
    """The documents, and behind each values file of a known chart the objects that its release would have.

    `below` are values that every release has from its site.
    """
    for document in documents:
        if type(document) is not Document or not _may_be_values(document):
            yield document
            continue
        from validator.roads import values

        if values.recognises(document):
            yield from values.documents([document], below=below)
        else:
            yield document


def holds_values(document: Document) -> bool:
    """Whether the document is a values file of a known chart, of which there is something to say in any case."""
    if type(document) is Document or not _may_be_values(document):
        return False
    from validator.roads.values import ValuesDocument

    return isinstance(document, ValuesDocument)


def _may_be_values(document: Document) -> bool:
    """What has a kind and a version is an object: the common case, for which the values road is not even imported."""
    return isinstance(document.tree, dict) and not ("kind" in document.tree and "apiVersion" in document.tree)


class Release(NamedTuple):
    """A release of a chart: `helm` is the program that renders it, None for the one on the PATH."""

    chart: Path
    name: str = "run"
    namespace: str = "default"
    helm: str | None = None
    kube_version: str | None = None


def documents_for_chart(release: Release, files: Sequence[Document], below: Document | None = None) -> list[Document]:
    """The values files of a release of a chart, and the objects that it has with them; the last file wins.

    Without files the chart's own defaults are looked at. The chart that this validator knows needs no Helm; another one
    is rendered, and a `RenderingError` says why it cannot be.
    """
    default = defaults(release.chart)
    if _is_known(release.chart):
        from validator.roads import values

        return values.documents(files or [default], release.name, release.namespace, below)
    from validator.roads import rendered

    return rendered.documents(release, default, files or [default])


def defaults(chart: Path) -> Document:
    """The values.yaml of a chart; no values where it has none, or where the text is broken, as Helm will say."""
    path = chart / "values.yaml"
    source = Source(str(path), path.read_text("utf-8", "replace") if path.is_file() else "")
    documents, _ = reading.read(source)
    return documents[0] if documents else Document(source, 0, {}, ())


def _is_known(chart: Path) -> bool:
    """Whether a chart is the one that comes with the validator, in this version."""
    from validator.roads.training_job.chart import FOLDER, files

    return files(chart) == files(FOLDER)
