"""Files of one run: values of charts/training-job, of which the last file wins, or manifests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.document import files, reading
from trainyard.document.document import Document
from trainyard.document.errors import MistakeError
from trainyard.document.source import Source
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.loaders import charts
from trainyard.loaders.manifests.manifest import load_project
from trainyard.loaders.training_job import values
from trainyard.model.run import Project, Run
from trainyard.model.site import Site


class RunFilesError(MistakeError):
    """Files that hold no run; `args[0]` gives the place and the reason."""


def documents_of(names: Iterable[str]) -> list[Document]:
    """Returns the documents of files; `-` is standard input. Raises `MistakeError`."""
    found: list[Document] = []
    for file in files.open_files(names):
        if file.fault is not None:
            fault = file.fault
            raise RunFilesError(f"{file.source.name}:{fault.line}:{fault.column}: {fault.message}")
        found += documents_in(file.source)
    return found


def documents_in(source: Source) -> list[Document]:
    """Returns the documents of a text. Raises `RunFilesError`."""
    documents, broken = reading.read(source)
    if broken:
        raise RunFilesError(f"{source.name}:{broken[0].line}:{broken[0].column}: {broken[0].message}")
    return [document for document in documents if document.tree is not None]


def project_of(documents: Sequence[Document], site: Site | None) -> Project:
    """Returns the objects of documents, and of a release with their values. Raises `RunFilesError`."""
    below = site.run_values if site is not None else None
    given = [document for document in documents if _may_be_values(document)]
    if given and len(given) == len(documents):
        return load_project(_released(given, below))
    return load_project(charts.expand(documents, below))


def runs_in(project: Project) -> list[Run]:
    """Returns the runs of a project, without runtimes and plain Jobs beside a run, such as its preflight."""
    runs = [run for run in project.runs if run.is_job and run.training_roles]
    others = [run for run in runs if run.kind not in ("Job", *RUNTIMES)]
    return others or runs


def _may_be_values(document: Document) -> bool:
    tree = document.tree
    return isinstance(tree, dict) and not ("apiVersion" in tree or "metadata" in tree)


def _released(given: Sequence[Document], below: Document | None) -> list[Document]:
    """Returns the values with the objects of their release. Raises `RunFilesError` if the chart refuses them."""
    documents = values.documents_from_values(given, below=below, seeks_inert=False)
    for document, said in values.refusals(documents):
        name = document.source.name
        raise RunFilesError(f"{name}: the chart refuses these values: {said}; `trainyard lint {name}` shows each fault")
    return documents
