"""`trainyard convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainyard.cli.errors import NothingLintedError
from trainyard.cli.new_file import refuse_existing, write
from trainyard.cli.output import say
from trainyard.linting.exit_codes import CLEAN, FINDINGS

if TYPE_CHECKING:
    from trainyard.commands.convert.conversion import Converted
    from trainyard.commands.convert.reading import Given

HELP = """Convert a job into values of charts/training-job.

FILE holds a PyTorchJob, MPIJob, TFJob, JAXJob, PaddleJob, XGBoostJob, TrainJob or JobSet, beside other objects. The
name `-` stands for standard input, such as the output of Kustomize or the manifest of a Helm release. Defaults of the
chart are left out. A field that no value sets goes into `podTemplate`. Mistakes that have a safe fix are corrected.
Comments at the top of the values name each correction, each change, and each part that is lost.

\b
  trainyard convert job.yaml -o run.yaml
  trainyard convert job.yaml --to TrainJob            move the run to Kubeflow Trainer v2
  trainyard convert k8s/job.yaml --job vit            one of several jobs
  kubectl kustomize k8s | trainyard convert - -o run.yaml
  helm get manifest llm | trainyard convert -

A file that exists is replaced only with --force.

Exit codes: 0 converted, 1 a part of the job is lost or the chart refuses the values, 2 wrong usage or a job that the
chart cannot start, 3 there is no job.
"""


@click.command(name="convert", help=HELP)
@click.argument("file", metavar="FILE|-", type=click.Path())
@click.option(
    "-o",
    "--output",
    metavar="FILE|-",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="File for the values. Default: standard output.",
)
@click.option("--force", is_flag=True, help="Replace the file of --output if it exists.")
@click.option("--to", "kind", type=click.Choice(["TrainJob"]), help="Kind of the run, if it is to change.")
@click.option("--job", metavar="NAME", help="Name of the job, if the file holds several.")
def command(file: str, output: Path | None, force: bool, kind: str | None, job: str | None) -> int:
    """Converts a job."""
    from trainyard.commands.convert import conversion, reading, writing
    from trainyard.commands.convert.errors import NoJobError

    if output == Path("-"):
        output = None
    if output is not None:
        refuse_existing(output, force=force)
        if output.exists() and Path(file).exists() and output.samefile(file):
            raise click.UsageError(f"-o {output}: this is the job; name another file for the values")
    try:
        given = reading.read_job(file, job)
    except NoJobError as error:
        raise NothingLintedError(str(error)) from None
    converted = conversion.convert(given.run, kind or "")
    text = writing.text_of(converted, "standard input" if file == "-" else file, given.corrected)
    if output is None:
        click.echo(text, nl=False)
    else:
        write(output, text)
    _tell(given, converted, output)
    return FINDINGS if converted.lost else CLEAN


def _tell(given: Given, converted: Converted, output: Path | None) -> None:
    for note in given.corrected:
        say(f"corrected: {note}")
    for note in converted.changes:
        say(f"changed: {note}")
    for note in converted.lost:
        say(f"lost: {note}")
    if given.beside:
        say(f"note: objects beside the job are no part of its values; keep {', '.join(given.beside)}")
    if output is not None:
        say(f"Wrote {output}; `trainyard lint {output}` checks it")
