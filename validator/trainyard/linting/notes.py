"""Notes on the parts that were not checked: a file without findings is clean only as far as it was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.document.document import EmbeddedDocument
from trainyard.facts.jobs.judged_kinds import JUDGED_KINDS
from trainyard.loaders.manifests.shell import MAX_LENGTH

if TYPE_CHECKING:
    from trainyard.document.document import Document, Place
    from trainyard.engine.finding import Finding
    from trainyard.engine.subjects import Reading
    from trainyard.model.run import Project, Run

# More names of kinds make a note hard to read.
_MOST_KINDS = 5


def unchecked(readings: Iterable[Reading], project: Project) -> dict[str, set[str]]:
    """Returns the files whose objects no rule is about, by name, each with the kinds of its objects."""
    kinds: dict[int, set[str]] = {}
    for resource in project.resources:
        kinds.setdefault(_source(resource.at.document), set()).add(resource.kind)
    judged = {
        _source(thing.at.document) for things in (project.runs, project.deepspeeds, project.misfits) for thing in things
    }
    found = ((known.source.name, id(known.source)) for known in readings)
    return {
        name: kinds[source]
        for name, source in found
        if source in kinds and source not in judged and not kinds[source] & JUDGED_KINDS
    }


def _source(document: Document) -> int:
    """Returns the identity of the file that a document is in."""
    while isinstance(document, EmbeddedDocument):
        document = document.host.document
    return id(document.source)


def of_files(readings: Iterable[Reading], findings: Iterable[Finding], idle: Mapping[str, set[str]]) -> Iterator[str]:
    """Yields the files, or parts of them, that were not checked, unless a finding names them.

    `idle` are the files whose objects no rule is about. In a folder with others these are usual.
    """
    said = {finding.position.source.name for finding in findings if finding.rule.name == "nothing-linted"}
    folders: dict[str, set[str] | None] = {}
    for known in readings:
        name, found = known.source.name, idle.get(known.source.name)
        if known.note and not (known.chart and name in said):
            yield f"{name}: {known.note}"
        if known.folder is None:
            if found:
                yield f"{name}: not checked: no rule is about {_listed(found)}"
        elif found is None and known.linted:
            folders[known.folder] = None
        elif found is not None and (others := folders.setdefault(known.folder, set())) is not None:
            others.update(found)
    for folder, found in folders.items():
        if found:
            yield f"{folder}: not checked: no rule is about {_listed(found)}"


def _listed(kinds: set[str]) -> str:
    names = sorted(kinds)
    more = len(names) - _MOST_KINDS
    return " or ".join(names if more < 1 else [*names[:_MOST_KINDS], f"{more} other kinds"])


def of_projects(projects: Iterable[Project]) -> Iterator[str]:
    """Yields the objects and scripts that were checked in part, and those that were not checked."""
    known = list(projects)
    runs = [run for project in known for run in project.runs]
    yield from _containers_alone(runs)
    yield from _unread(place for project in known for place in project.unread)
    yield from _long_scripts(runs)


def _unread(places: Iterable[Place]) -> Iterator[str]:
    """Yields the texts of objects that cannot be read."""
    for place in places:
        position = place.document.locate(place)
        yield f"{position.source.name}:{position.line}: not checked: this object cannot be read before it is rendered"


def _containers_alone(runs: Iterable[Run]) -> Iterator[str]:
    """Yields the objects that train and whose controller is not known; a script alone has no kind."""
    for run in runs:
        if run.kind and run.training_roles and not run.is_job and not has_all_pods(run):
            position = run.at.document.locate(run.at)
            yield (
                f"{position.source.name}:{position.line}: only the containers of {run.kind} {run.name} were checked, "
                "because no rule knows its controller"
            )


def _long_scripts(runs: Iterable[Run]) -> Iterator[str]:
    """Yields the scripts that are not read to their end."""
    scripts = (script for run in runs for container in run.containers for script in container.scripts)
    found = (script.at.document.locate(script.at) for script in scripts if len(script.text) > MAX_LENGTH)
    for name, line in dict.fromkeys((position.source.name, position.line) for position in found):
        yield f"{name}:{line}: only the first {MAX_LENGTH >> 10} KiB of this script are checked"
