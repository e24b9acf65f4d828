"""`trainyard report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from trainyard import DISTRIBUTION
from trainyard.cli import new_file, output
from trainyard.cli.connection import connection, reader
from trainyard.cli.plan import names_of
from trainyard.linting.exit_codes import CLEAN

if TYPE_CHECKING:
    from trainyard.commands.report.contents import Contents, Manifest
    from trainyard.commands.status.reading import Reader
    from trainyard.commands.status.snapshot import Snapshot
    from trainyard.document.document import Document
    from trainyard.document.files import File
    from trainyard.engine.finding import Finding

HELP = f"""Write a report about a run in a cluster to one HTML file.

The file shows the state, the diagnosis of a run that failed, loss and throughput, pods, checkpoints and restarts, the
plan beside the measurement, the preflight matrix, the linter's findings, events and manifests. It needs no other file
and no network. Secret-like values are left out; look through the file before you send it.

RUN is NAME, KIND/NAME or the name of a Helm release. Curves and restarts come from the log lines of the reference
trainer; set `log_steps` for curves by step. Nothing in the cluster is changed.

\b
  trainyard report llm -n research                         writes llm.html
  trainyard report llm -f run.yaml -o monday.html          with the values of the run
  trainyard report llm --model llama-3-8b --gpu h100-sxm   with a plan beside the measurement

Needs the Kubernetes client and Jinja: python -m pip install '{DISTRIBUTION}[report]'

Exit codes: 0 the file is written, 2 wrong usage or no answer from the cluster, 3 no such run.
"""


class _Input(NamedTuple):
    """The texts of the run: as files for the linter, as documents for the plan, and as they are shown."""

    files: Sequence[File]
    documents: Sequence[Document]
    manifests: Sequence[Manifest]


@click.command(name="report", help=HELP)
@click.argument("run", metavar="RUN")
@connection
@click.option(
    "-f",
    "--values",
    "values",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Values of charts/training-job of the run: they are shown, linted and planned. Default: the live object.",
)
@click.option(
    "--site", metavar="FILE", type=click.Path(), help="Values of charts/training-platform: its fabric and defaults."
)
@click.option("--model", metavar="NAME|FILE", shell_complete=names_of("shapes", "shape_names"), help="Model to plan.")
@click.option("--gpu", metavar="NAME", shell_complete=names_of("hardware", "gpu_names"), help="GPU to plan.")
@click.option("--fabric", metavar="NAME", shell_complete=names_of("fabrics", "fabric_names"), help="Network to plan.")
@click.option(
    "--preflight",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Log of a preflight test. Default: that of the newest one in the namespace.",
)
@click.option("-o", "--output", "target", metavar="FILE", type=click.Path(path_type=Path), help="Default: RUN.html.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
def command(
    run: str,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str | None,
    target: Path | None,
    force: bool,
    **options: Any,
) -> int:
    """Writes the report."""
    path = target or Path(f"{run.rpartition('/')[2]}.html")
    new_file.refuse_existing(path, force=force)
    with reader(kubeconfig, context, namespace) as (found, place):
        snapshot = found.snapshot(found.find(run, place))
        contents = _contents(found, snapshot, **options)
    new_file.write(path, _page(contents))
    output.say(f"wrote {path}: {contents.verdict.title}, {contents.verdict.headline}")
    return CLEAN


def _contents(
    found: Reader, snapshot: Snapshot, *, values: tuple[str, ...], site: str | None, preflight: Path | None, **plan: Any
) -> Contents:
    from trainyard.commands.plan.settings import Given
    from trainyard.commands.report import gathering
    from trainyard.commands.report.contents import contents
    from trainyard.commands.report.history import history
    from trainyard.commands.report.planned import compare
    from trainyard.loaders.site.loading import load_site

    given = _given(values) if values else _live(snapshot)
    logs = gathering.logs(found, snapshot)
    past = history(log.text for log in logs)
    known = load_site(site) if site is not None else None
    name = ", ".join(one.name for one in given.manifests)
    return contents(
        snapshot,
        logs,
        past=past,
        findings=_findings(given.files, site),
        comparison=compare(given.documents, known, Given(**plan), past, name),
        measured=gathering.preflights(found, snapshot) if preflight is None else [_text(preflight)],
        manifests=given.manifests,
        notes=found.notes,
    )


def _given(names: tuple[str, ...]) -> _Input:
    from trainyard.commands.report.contents import Manifest
    from trainyard.document.files import open_files
    from trainyard.loaders.run_files import documents_of

    files = list(open_files(names))
    return _Input(files, documents_of(names), [Manifest(file.source.name, file.source.text) for file in files])


def _live(snapshot: Snapshot) -> _Input:
    from trainyard.commands.audit.objects import file
    from trainyard.commands.report.contents import Manifest
    from trainyard.loaders.run_files import documents_in

    files = [file(tree) for tree in (snapshot.job, *snapshot.runtimes)]
    documents = [document for one in files for document in documents_in(one.source)]
    return _Input(files, documents, [Manifest(one.source.name, one.source.text) for one in files])


def _findings(files: Sequence[File], site: str | None) -> Sequence[Finding]:
    from trainyard.linting import pipeline
    from trainyard.linting.session import Options, start_session

    started = start_session(("cluster",), Options(site=site))
    return pipeline.lint(map(pipeline.read_file, files), started.engine, started.config.allow).findings


def _text(path: Path) -> str:
    from trainyard.document.opening import reason

    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise click.UsageError(f"--preflight {path}: it cannot be read: {reason(error)}") from None


def _page(contents: Contents) -> str:
    try:
        from trainyard.commands.report.page import page
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"the report needs {error.name}: python -m pip install '{DISTRIBUTION}[report]'"
        ) from None
    return page(contents)
