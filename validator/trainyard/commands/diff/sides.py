"""The two runs of a comparison, each from a file, standard input or the cluster."""

from __future__ import annotations

from pathlib import Path

from trainyard.commands.diff import live
from trainyard.document.source import Source
from trainyard.loaders.run_files import RunFilesError, documents_in, documents_of, project_of, runs_in
from trainyard.model.run import Run
from trainyard.model.site import Site


def read_side(name: str, *, namespace: str | None, job: str | None, site: Site | None) -> Run:
    """Returns the run of a side; `job` is its name if there are several. Raises `MistakeError`."""
    if live.is_live(name) and not Path(name).exists():
        documents = documents_in(Source(name, live.manifest(name, namespace)))
    else:
        documents = documents_of([name])
    runs = runs_in(project_of(documents, site))
    found = [run for run in runs if job in (None, run.name)]
    if not runs:
        raise RunFilesError(f"{name}: no run is in it; name values of charts/training-job, or a job's manifest")
    if len(found) != 1:
        known = ", ".join(f"{run.kind} {run.name}" for run in runs[:5])
        raise RunFilesError(f"{name}: it holds {len(runs)} runs ({known}); choose one with --job NAME")
    return found[0]
