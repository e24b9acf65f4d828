"""`trainyard run`."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from validator import exit_codes
from validator.cli.errors import NotHereError

if TYPE_CHECKING:
    from validator.linting import Report
    from validator.local.machine import Machine
    from validator.local.plan import Plan
    from validator.local.values import Values

HELP = """Run the values of a training job on this machine, without a cluster.

Each node of the values is a torchrun of its own, and they meet on 127.0.0.1. What the chart mounts are folders below
--directory, and paths in arguments, variables and configurations are changed to these. The run sees the variables of
this shell, and those of the values on top.

\b
  trainyard run -f run.yaml --local
  trainyard run -f run.yaml --local --nodes 1 --processes-per-node 2
  trainyard run -f run.yaml --local --set train.config.batch_size=64
  trainyard run -f run.yaml --local --dry-run

Ctrl-C and SIGTERM end all nodes: by SIGTERM, and when the grace period of the values is over by SIGKILL.

Exit codes: 0 done, 1 the run failed, 2 wrong usage, or values that cannot be run, 3 something is missing here:
PyTorch, the program or its data; 130 and 143 when Ctrl-C or SIGTERM has ended it.
"""

_OPTIONS = (
    click.option(
        "-f",
        "--values",
        "names",
        multiple=True,
        required=True,
        metavar="FILE",
        type=click.Path(),
        help="Values of charts/training-job; repeat it, the last file wins.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="One value more, as train.config.batch_size=64; repeat it.",
    ),
    click.option("--local", is_flag=True, help="Run it here; there is no other way yet."),
    click.option("--nodes", metavar="N", type=click.IntRange(min=1), help="In place of `nodes` of the values."),
    click.option(
        "--processes-per-node",
        "processes",
        metavar="N",
        type=click.IntRange(min=1),
        help="In place of `processesPerNode`.",
    ),
    click.option("--release", metavar="NAME", help="Name of the run; without it, that of the first file."),
    click.option(
        "--directory",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help="What the volumes are below; without it runs/NAME.",
    ),
    click.option(
        "--python", metavar="PATH", type=click.Path(), help="The Python with PyTorch; without it, Trainyard's own."
    ),
    click.option("--dry-run", is_flag=True, help="Print the commands for a shell, and start nothing."),
)


def _options(function: Any) -> Any:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command(name="run", help=HELP)
@_options
def command(
    names: tuple[str, ...],
    settings: tuple[str, ...],
    local: bool,
    nodes: int | None,
    processes: int | None,
    release: str | None,
    directory: Path | None,
    python: str | None,
    dry_run: bool,
) -> int:
    """Plan, and run."""
    if not local:
        installed = f"`helm install NAME charts/training-job -f {' -f '.join(names)}`"
        raise click.UsageError(f"a run in a cluster is installed by {installed}; add --local to run it here")
    from validator.local import job, machine, notes, plan, preparing, values

    name = release or _name(names[0])
    wanted = job.read(_taken(values.read(names, settings, name), names), name, nodes, processes)
    here = machine.here(python or sys.executable)
    folder = (directory or Path("runs") / name).absolute()
    planned = plan.make(wanted, here, folder)
    for note in notes.notes(wanted, here, planned):
        _say(f"note: {note}")
    _say(f"{name}: {wanted.nodes} x {wanted.processes} processes, volumes in {preparing.shown(folder)}")
    if dry_run:
        from validator.local import script

        click.echo("\n".join(script.lines(planned)))
        return exit_codes.DONE
    return _run(planned, here)


def _name(file: str) -> str:
    """A name that a release may have, from that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", Path(file).stem.lower()).lstrip("-0123456789").rstrip("-") or "run"


def _taken(found: Values, names: tuple[str, ...]) -> dict[str, Any]:
    """The values, if the chart takes them. What else would fail on a cluster is said, and keeps nobody from trying."""
    from validator.reporters.text import counted

    if found.refused.findings:
        _show(found.refused)
        raise click.ClickException("Helm would render nothing with these values, so there is nothing to run")
    if found.errors.findings:
        _show(found.errors)
        count = counted(len(found.errors.findings), "error")
        _say(f"note: {count} for a cluster, where this would fail; `trainyard lint {' '.join(names)}` says more")
    return found.tree


def _show(report: Report) -> None:
    from validator.reporters import Style, text, wants_color

    color = wants_color("auto", on_terminal=sys.stderr.isatty())
    _say(text.render(report, (), Style(color=color)).rstrip())


def _run(plan: Plan, machine: Machine) -> int:
    from validator.local import errors, preparing, processes

    try:
        preparing.check(plan, machine)
        preparing.prepare(plan)
        outcome = processes.run(plan.nodes, machine.environment, plan.grace_seconds, _say)
    except errors.MissingError as error:
        raise NotHereError(str(error)) from None
    if outcome.signal is not None:
        return exit_codes.BY_SIGNAL + outcome.signal
    if outcome.failed:
        _say(f"the run failed: {', '.join(f'{name} {_how(status)}' for name, status in outcome.failed.items())}")
    return exit_codes.FAILED if outcome.failed else exit_codes.DONE


def _how(status: int) -> str:
    return f"ended with status {status}" if status > 0 else f"was killed by {signal.Signals(-status).name}"


def _say(text: str) -> None:
    click.echo(text, err=True)
