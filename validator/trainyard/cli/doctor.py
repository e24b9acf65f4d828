"""`trainyard doctor`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from trainyard import DISTRIBUTION
from trainyard.cli.connection import connection as connected
from trainyard.cli.format_option import formats
from trainyard.linting.exit_codes import CLEAN, FINDINGS

if TYPE_CHECKING:
    from trainyard.commands.doctor.diagnosis import Diagnosis
    from trainyard.commands.support.collecting import Run

HELP = f"""Find the cause of a failed run in its logs, in a support bundle, or in the cluster.

LOG is a file, a folder of files, - for standard input, or a bundle of --collect. Files may be the output of the ranks
(NCCL, torchrun, gloo, DeepSpeed, MPI), `kubectl describe` or events, dmesg of the nodes, and dumps of the flight
recorder. Give the logs of all pods: torchrun's report, times, and prefixes of ranks or pods tell the first failure from
those that it took down. No cluster is needed, nothing is sent.

--run reads a run from the cluster instead: its objects, pods, events, nodes and logs. --collect writes these to a file
for support. Both change nothing in the cluster. They never read Secrets and ConfigMaps, and leave secret-like values
out. Both need the Kubernetes client: python -m pip install '{DISTRIBUTION}[audit]'

\b
  trainyard doctor logs/                       the logs of all pods in a folder
  kubectl logs -l training.kubeflow.org/job-name=llm --prefix --timestamps --tail=-1 | trainyard doctor -
  kubectl describe pods --show-events | trainyard doctor -   why pods do not start
  trainyard doctor --output-format json logs/   for programs
  trainyard doctor --run llm -n demo           a job, Helm release or pod of the cluster
  trainyard doctor --collect llm -n demo -o llm.tar.gz
  trainyard doctor llm.tar.gz                  what --run would say

Exit codes: 0 no known cause, or a bundle written. 1 causes found. 2 wrong usage, unreadable logs, or no answer from
the cluster.
"""
_BUNDLE = (".tar.gz", ".tgz")


class _Connection(NamedTuple):
    kubeconfig: Path | None
    context: str | None
    namespace: str | None


@click.command(name="doctor", help=HELP)
@click.argument("logs", nargs=-1, metavar="[LOG...]", type=click.Path())
@click.option("--run", "runs", multiple=True, metavar="NAME", help="Diagnose a run of the cluster. Repeatable.")
@click.option("--collect", metavar="NAME", help="Write a support bundle of a run of the cluster.")
@click.option("-o", "--output", "target", metavar="FILE", type=click.Path(path_type=Path), help="File of --collect.")
@connected
@formats
def command(
    logs: tuple[str, ...],
    runs: tuple[str, ...],
    collect: str | None,
    target: Path | None,
    kubeconfig: Path | None,
    context: str | None,
    namespace: str | None,
    output: str,
) -> int:
    """Prints the diagnosis of logs and runs, or writes a bundle."""
    connection = _Connection(kubeconfig, context, namespace)
    if collect is not None:
        if logs or runs:
            raise click.UsageError("--collect takes neither logs nor --run: diagnose the bundle afterwards")
        return _collect(collect, target or Path(f"{collect.rpartition('/')[2]}.tar.gz"), connection)
    if target is not None:
        raise click.UsageError("-o is the file of --collect; redirect the output to keep a diagnosis")
    if not logs and not runs:
        raise click.UsageError("Missing argument 'LOG...', or --run NAME")
    with tempfile.TemporaryDirectory() as folder:
        names = [*_unpacked(logs, Path(folder)), *_laid_out(runs, Path(folder), connection)]
        from trainyard.commands.doctor.diagnosis import diagnose

        result = diagnose(names)
        _show(result, output, f"{folder}/")
    return FINDINGS if result.causes else CLEAN


def _unpacked(logs: tuple[str, ...], folder: Path) -> Iterator[str]:
    """Yields the names of logs, and of the folders that bundles were unpacked to."""
    for name in logs:
        path = Path(name)
        if name.endswith(_BUNDLE) and path.is_file():
            from trainyard.commands.support import files

            place = _new_folder(folder, path.name)
            try:
                files.unpack(path, place)
            except files.BundleError as error:
                raise click.ClickException(str(error)) from None
            if not any(place.iterdir()):
                raise click.UsageError(f"{name}: no bundle of --collect; unpack it, and name the folder of its logs")
            yield str(place)
        else:
            yield name


def _new_folder(folder: Path, name: str) -> Path:
    """Makes a folder for a bundle. Bundles of several folders may have one name, which messages show."""
    place, number = folder / name, 2
    while place.exists():
        place, number = folder / f"{name} ({number})", number + 1
    place.mkdir()
    return place


def _laid_out(runs: tuple[str, ...], folder: Path, connection: _Connection) -> Iterator[str]:
    for name in dict.fromkeys(runs):
        from trainyard.commands.support import files

        place = folder / "run" / name.replace("/", "-")
        files.lay_out(_run(name, connection), place)
        yield str(place)


def _run(name: str, connection: _Connection) -> Run:
    """Reads a run from the cluster; what cannot be read is named on stderr."""
    from trainyard.commands.audit.cluster import ClusterError, RequestRefusedError, connect, default_namespace
    from trainyard.commands.support.collecting import collect
    from trainyard.reporters.escaping import whole_line

    try:
        place = connection.namespace or default_namespace(connection.kubeconfig, connection.context)
        run = collect(connect(connection.kubeconfig, connection.context), name, place)
    except (ClusterError, RequestRefusedError) as error:
        raise click.ClickException(str(error)) from None
    for note in run.notes:
        click.echo(whole_line(note), err=True)
    return run


def _show(result: Diagnosis, form: str, folder: str) -> None:
    from trainyard.commands.doctor import report
    from trainyard.reporters.escaping import whole_line

    for reason in result.skipped:
        click.echo(whole_line(f"not read: {reason}"), err=True)
    if form == "json":
        import json

        click.echo(json.dumps(report.tree(result), indent=2).replace(folder, ""))
        return
    for line in report.text(result):
        click.echo(whole_line(line.replace(folder, "")))


def _collect(name: str, target: Path, connection: _Connection) -> int:
    from trainyard.commands.support import files

    run = _run(name, connection)
    try:
        names = files.write(run, target)
    except files.BundleError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"wrote {target}: {len(names)} files of {len(run.pods)} pods. Look through it before you send it.")
    return CLEAN
