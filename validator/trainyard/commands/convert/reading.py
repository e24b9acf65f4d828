"""The job to convert: read from files of any origin, with the linter's safe fixes made first."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.convert.conversion import is_convertible
from trainyard.commands.convert.errors import ConvertError, NoJobError
from trainyard.document.files import File
from trainyard.linting import pipeline
from trainyard.linting.session import Options, start_session
from trainyard.loaders.manifests.manifest import load_project
from trainyard.loaders.training_job.values import recognises
from trainyard.model.run import Project, Run

# Objects that a cluster needs once, whatever runs in it, are no part of a job.
_OF_CLUSTER = (
    "ClusterTrainingRuntime",
    "ClusterQueue",
    "LocalQueue",
    "ResourceFlavor",
    "Topology",
    "Queue",
    "Namespace",
)
_SHOWN = 5
_TEMPLATE = "; render a template first: `helm template RUN CHART | trainyard convert -`"
_KINDS = "PyTorchJob, MPIJob, TFJob, JAXJob, PaddleJob, XGBoostJob, TrainJob or JobSet"


class Given(NamedTuple):
    """A job, the mistakes that are corrected in it, and the objects beside it, which the values do not hold."""

    run: Run
    corrected: tuple[str, ...]
    beside: tuple[str, ...]


def read_job(name: str, wanted: str | None) -> Given:
    """Returns the job of a file, of that name if the file holds several. Raises `MistakeError`."""
    fixed = start_session((name,), Options()).fix(unsafe=False)
    corrected = tuple(f"{found.rule.name}: {found.message}" for found in fixed.corrected)
    project = _project(fixed.after)
    run = _run(name, project, wanted)
    others = (f"{one.kind} {one.name}" for one in project.resources if one.kind not in _OF_CLUSTER)
    runtimes = {f"TrainingRuntime {run.spec.get('runtimeRef', {}).get('name')}"} if run.kind == "TrainJob" else set()
    runs = {f"{one.kind} {one.name}" for one in project.runs}
    wrappers = {f"{one.wrapper.kind} {one.wrapper.name}" for one in project.resources if one.wrapper is not None}
    beside = tuple(other for other in others if other not in {*runs, *runtimes, *wrappers})
    return Given(run, corrected, beside)


def _project(files: tuple[File, ...]) -> Project:
    documents = []
    for file in files:
        reading = pipeline.read_file(file)
        if reading.broken:
            fault = reading.broken[0]
            advice = _TEMPLATE if "{{" in file.source.text else ""
            raise ConvertError(f"{file.source.name}:{fault.line}:{fault.column}: {fault.message}{advice}")
        documents += list(reading.documents)
    if any(map(recognises, documents)):
        raise NoJobError(f"{files[0].source.name}: it holds values of charts/training-job already, and no job")
    return load_project(documents)


def _run(name: str, project: Project, wanted: str | None) -> Run:
    jobs = [run for run in project.runs if is_convertible(run)]
    found = [run for run in jobs if wanted in (None, run.name)]
    names = ", ".join(f"{run.kind} {run.name}".rstrip() for run in jobs[:_SHOWN])
    if not jobs and (others := [run for run in project.runs if run.is_job]):
        other = f"{others[0].kind} {others[0].name}".rstrip()
        raise ConvertError(f"{name}: {other}: the chart starts no job of this kind; convert a {_KINDS}")
    if not jobs:
        raise NoJobError(f"{name}: no job is in it; name a file with a {_KINDS}")
    if not found:
        raise ConvertError(f"--job {wanted}: {name} holds {names}")
    if len(found) > 1:
        more = f" and {len(jobs) - _SHOWN} more" if len(jobs) > _SHOWN else ""
        raise ConvertError(f"{name}: it holds {len(found)} jobs ({names}{more}); choose one with --job NAME")
    return found[0]
