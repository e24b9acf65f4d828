"""Charts and their values: chooses the loader of a file or a chart."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from trainyard.document import reading
from trainyard.document.document import Document
from trainyard.document.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from trainyard.loaders.chart_release import About
    from trainyard.loaders.helm.release import ChartRelease
    from trainyard.loaders.known.charts import KnownChart

# Helm reads one document of a values file, and each takes as long to render as a hundred kilobytes of manifests.
MAX_RELEASES = 2
# Further documents of values are refused, up to this number: each takes time to recognise, and reports end at as many
# findings of a rule.
_MAX_REFUSED = 500


def expand(documents: Iterable[Document], below: Document | None = None) -> Iterator[Document]:
    """Yields the documents, and after each values file of a known chart the objects that its release would have.

    `below` are values that the site adds to every release. Only the first `MAX_RELEASES` documents of a file are
    rendered; the next ones have a fault that says so, and thousands after them are left as they are. Values without
    effect are looked for in the first one.
    """
    releases: dict[int, int] = {}
    for document in documents:
        if type(document) is not Document or not _may_be_values(document):
            yield document
            continue
        number = releases.get(id(document.source), 0)
        made = _release(document, below, number) if number <= MAX_RELEASES + _MAX_REFUSED else None
        releases[id(document.source)] = number + (made is not None)
        yield from [document] if made is None else made


def _release(document: Document, below: Document | None, number: int) -> list[Document] | None:
    """Returns the values and the objects of a release; None if the document is not the values of a known chart.

    `number` counts the releases before it in the file.
    """
    from trainyard.loaders.training_job import values

    is_over = number >= MAX_RELEASES
    render = functools.partial(values.documents_from_values, [document], below=below, seeks_inert=not number)
    if values.recognises(document):
        return [_over(document)] if is_over else render()
    if (known := _known_chart(document)) is not None:
        from trainyard.loaders.known.values import documents_from_values

        return [_over(document)] if is_over else documents_from_values(known, document)
    if is_over:
        return [_over(document)] if values.has_form_of_short_run(document) else None
    return render() if values.resembles(document) else None


def _over(document: Document) -> Document:
    from trainyard.loaders.training_job.values import refused_values

    return refused_values(
        document, f"the file has more than {MAX_RELEASES} documents with values; move this one to a file of its own"
    )


def _known_chart(document: Document) -> KnownChart | None:
    """Returns the chart of Trainyard, beside training-job, whose values a document holds."""
    from trainyard.loaders.known.charts import recognise

    return recognise(document)


def is_known(document: Document) -> bool:
    """True if `expand` makes objects of the document's values, or the document is an object itself."""
    if not isinstance(document.tree, dict):
        return False
    if not _may_be_values(document):
        return True
    return next(iter(expand([document]))) is not document


def holds_values(document: Document) -> bool:
    """True if the document is a values file of a known chart that rules check in any case."""
    if type(document) is Document or not _may_be_values(document):
        return False
    from trainyard.loaders.training_job.values import ValuesDocument

    return isinstance(document, ValuesDocument)


def _may_be_values(document: Document) -> bool:
    """True if the document may be values. One with kind and version is an object: the values loader is not imported."""
    return isinstance(document.tree, dict) and not ("kind" in document.tree and "apiVersion" in document.tree)


def documents_for_chart(
    release: ChartRelease, files: Sequence[Document], below: Document | None = None
) -> list[Document]:
    """Returns the values files of a release of a chart, and the objects that it renders; the last file wins.

    Without files the chart's own defaults are linted. The chart that this validator knows needs no Helm; another one is
    rendered, and a `RenderingError` gives the reason if that fails.
    """
    default = default_values(release.chart)
    if _is_known(release.chart):
        from trainyard.loaders.training_job import values

        return values.documents_from_values(files or [default], release.name, release.namespace, below)
    from trainyard.loaders.helm import rendered

    return rendered.rendered_documents(release, default, files or [default])


class FolderChart:
    """The chart in a folder, read once and rendered without Helm with any values."""

    def __init__(self, folder: Path, default: Document) -> None:
        """`default` are the chart's own values. Raises `NotRenderedError`."""
        from trainyard.loaders import chart_release

        self._default = default
        self._chart = None if _is_known(folder) else chart_release.open_chart(folder, default)

    def documents(self, files: Sequence[Document], about: About, below: Document | None = None) -> list[Document]:
        """Returns the objects of a release with the values files of a scenario. Raises `NotRenderedError`."""
        if self._chart is None:
            from trainyard.loaders.training_job import values

            return values.documents_from_values(files or [self._default], about.name, about.namespace, below)
        from trainyard.loaders import chart_release

        return chart_release.release_documents(self._chart, self._default, files, about)


def default_values(chart: Path) -> Document:
    """Returns the values.yaml of a chart; no values if there are none, or if the text is broken."""
    path = chart / "values.yaml"
    source = Source(str(path), path.read_text("utf-8", "replace") if path.is_file() else "")
    documents, _ = reading.read(source)
    return documents[0] if documents else Document(source, 0, {}, ())


def _is_known(chart: Path) -> bool:
    """True if a chart is the one that comes with the validator, in this version."""
    from trainyard.loaders.training_job.chart import FOLDER, chart_contents

    return chart_contents(chart) == chart_contents(FOLDER)
