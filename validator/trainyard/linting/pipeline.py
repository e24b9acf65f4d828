"""From texts to findings: read, walk the road to the model, judge, and take away what is allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from validator import reading, suppression
from validator.finding import Finding
from validator.roads import charts, manifest
from validator.source import Document, Source
from validator.text import Text

if TYPE_CHECKING:
    from validator.engine import Engine
    from validator.files import File
    from validator.model import Project
    from validator.site import Site
    from validator.suppression import Allowance


class Reading(NamedTuple):
    """What came of reading one file.

    `broken` says what could not be read in it; `text` gives places for that. `folder` is the folder that the user named
    and that the file is in, None for a named file. `linted` is whether there is anything in it that rules look at.
    """

    source: Source
    documents: tuple[Document, ...]
    broken: tuple[reading.BrokenText, ...]
    text: Text
    folder: str | None = None
    linted: bool = False


class Report(NamedTuple):
    """All that a reporter may tell. `allowed` are findings that the user has suppressed, with the reason for each."""

    findings: tuple[Finding, ...]
    allowed: tuple[tuple[Finding, str], ...]
    files: tuple[str, ...]
    project: Project
    baselined: int = 0

    @property
    def nothing_linted(self) -> bool:
        """Whether a file or a folder held nothing to lint: no success, and no mistake in a text either."""
        return any(finding.rule.name == "nothing-linted" for finding in self.findings)


def read(file: File) -> Reading:
    """The documents of a file."""
    documents: list[Document] = []
    broken = [file.fault] if file.fault is not None else []
    if file.fault is None:
        documents, broken = reading.read(file.source)
    return Reading(file.source, tuple(documents), tuple(broken), Text(file.source), file.folder)


def released(release: charts.Release, readings: Sequence[Reading], site: Site | None = None) -> list[Reading]:
    """The readings of values files, with the objects that a chart makes of them unless one of the files is broken."""
    if any(reading.broken for reading in readings):
        return list(readings)
    files = [reading.documents[0] if reading.documents else Document(reading.source, 0, {}, ()) for reading in readings]
    made = charts.documents_for_chart(release, files, _below(site))
    own = [document for document in made if charts.holds_values(document)]
    others = tuple(document for document in made if document not in own)
    result = [reading._replace(documents=(document,)) for reading, document in zip(readings, own, strict=True)]
    return [*result[:-1], result[-1]._replace(documents=(*result[-1].documents, *others))]


def lint(readings: Iterable[Reading], engine: Engine, allowances: Iterable[Allowance] = ()) -> Report:
    """Judge everything together: a document may explain, or contradict, one of another file."""
    known = tuple(readings)
    named = (document for reading in known for document in reading.documents)
    project = manifest.project(charts.expand(named, _below(engine.site)))
    known = _marked(known, project)
    findings = [*engine.judge(project), *engine.examine((*known, *_empty_folders(known)), project)]
    entries = suppression.collect(known, project, allowances, engine.rules)
    kept, allowed, entries = suppression.sift(findings, entries)
    if entries:
        kept += engine.examine(entries, project)
    if engine.site is not None:
        kept = [_without_edits(finding, engine.site) for finding in kept]
    kept.sort(key=lambda finding: finding.order)
    return Report(tuple(kept), tuple(allowed), tuple(reading.source.name for reading in known), project)


def _below(site: Site | None) -> Document | None:
    """What every release on a site has beside its own values."""
    return site.run_values if site is not None else None


def _without_edits(finding: Finding, site: Site) -> Finding:
    """The finding without its fix where that would change the site, which is for whoever runs it to decide."""
    of_site = any(edit.at.document.source is site.document.source for edit in finding.edits)
    return finding._replace(edits=()) if of_site else finding


def _marked(readings: tuple[Reading, ...], project: Project) -> tuple[Reading, ...]:
    """The readings with `linted` set where an object, a DeepSpeed configuration or a chart's values were found."""
    places = [*(resource.at for resource in project.resources), *(deepspeed.at for deepspeed in project.deepspeeds)]
    linted = {id(place.document.source) for place in places}
    linted |= {id(document.source) for document in project.documents if charts.holds_values(document)}
    return tuple(
        reading if reading.linted else reading._replace(linted=id(reading.source) in linted) for reading in readings
    )


def _empty_folders(readings: tuple[Reading, ...]) -> Iterator[Reading]:
    """What stands for each folder in which there was nothing to lint."""
    full = {known.folder for known in readings if known.linted or known.broken}
    for folder in dict.fromkeys(known.folder for known in readings):
        if folder is not None and folder not in full:
            source = Source(folder, "")
            yield Reading(source, (), (), Text(source))
