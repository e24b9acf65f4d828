"""`trainyard run`."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli.errors import NotHereError
from trainyard.cli.option_list import option_list
from trainyard.cli.output import say
from trainyard.linting import exit_codes

if TYPE_CHECKING:
    from trainyard.commands.local.image import Image
    from trainyard.commands.local.machine import Machine
    from trainyard.commands.local.plan import Plan
    from trainyard.commands.local.values import Values
    from trainyard.linting.report import Report

HELP = """Run the values of a training job on this machine, without a cluster.

Each node becomes a torchrun of its own; the rendezvous is on 127.0.0.1. Each volume becomes a folder below --directory.
Paths in arguments, environment variables and configurations are rewritten to these folders. The run inherits the
variables of this shell; variables in the values override them.

\b
  trainyard run -f run.yaml --local
  trainyard run -f run.yaml --local --nodes 1 --processes-per-node 2
  trainyard run -f run.yaml --local --set train.config.batch_size=64
  trainyard run -f run.yaml --local --image registry.example.com/team/trainer:2026.11
  trainyard run -f run.yaml --local --only-rank 1
  trainyard run -f run.yaml --local --debug
  trainyard run -f run.yaml --local --dry-run

Ctrl-C and SIGTERM stop the run: every node gets SIGTERM, and SIGKILL after the grace period of the values.

Exit codes: 0 done, 1 the run failed, 2 wrong usage or values that are refused, 3 PyTorch, the program or its data is
missing, 130 stopped by Ctrl-C, 143 stopped by SIGTERM.
"""

_OPTIONS = (
    click.option(
        "-f",
        "--values",
        "names",
        multiple=True,
        metavar="FILE",
        type=click.Path(),
        help="Values of charts/training-job. Required. Repeatable; the last file wins.",
    ),
    click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set one value, such as train.config.batch_size=64. Repeatable.",
    ),
    click.option("--local", is_flag=True, help="Run on this machine. Required."),
    click.option("--nodes", metavar="N", type=click.IntRange(min=1), help="Override `nodes`."),
    click.option(
        "--processes-per-node",
        "processes",
        metavar="N",
        type=click.IntRange(min=1),
        help="Override `processesPerNode`.",
    ),
    click.option("--release", metavar="NAME", help="Name of the run. Default: the name of the first values file."),
    click.option(
        "--directory",
        metavar="FOLDER",
        type=click.Path(path_type=Path),
        help="Folder for the volumes. Default: runs/NAME.",
    ),
    click.option(
        "--python",
        metavar="PATH",
        type=click.Path(),
        help="Python interpreter that has PyTorch. Default: Trainyard's own.",
    ),
    click.option(
        "--image",
        metavar="NAME",
        help="Run each node in a container of this image with Podman or Docker, on this machine's network. It is not "
        "pulled.",
    ),
    click.option(
        "--only-rank",
        metavar="N",
        type=click.IntRange(min=0),
        help="Print the output of one rank only. All ranks write to logs below --directory.",
    ),
    click.option(
        "--debug", is_flag=True, help="Start one process with this terminal as its input, for breakpoint() and pdb."
    ),
    click.option("--dry-run", is_flag=True, help="Print the folders, files and commands, and start nothing."),
)


@click.command(name="run", help=HELP)
@click.argument("files", nargs=-1, metavar="", type=click.Path())
@option_list(*_OPTIONS)
def command(
    files: tuple[str, ...],
    names: tuple[str, ...],
    settings: tuple[str, ...],
    local: bool,
    nodes: int | None,
    processes: int | None,
    release: str | None,
    directory: Path | None,
    python: str | None,
    image: str | None,
    only_rank: int | None,
    debug: bool,
    dry_run: bool,
) -> int:
    """Plans the run and starts it."""
    if files or not names:
        named = " -f ".join((*names, *files)) or "run.yaml"
        raise click.UsageError(f"name the values with -f: `trainyard run -f {named} --local`")
    if not local:
        installed = f"`helm install NAME charts/training-job -f {' -f '.join(names)}`"
        raise click.UsageError(f"a run in a cluster is installed by {installed}; add --local to run it here")
    if debug:
        if only_rank is not None or (nodes or 1) > 1 or (processes or 1) > 1:
            raise click.UsageError("--debug starts one process: leave out --only-rank and the sizes")
        if image is not None:
            raise click.UsageError("--debug starts a process of this machine: leave out --image")
        nodes = processes = 1
    if image is not None and python is not None:
        raise click.UsageError("--python names an interpreter of this machine: leave it out, or --image")
    from trainyard.commands.local import differences, job, machine, plan, preparation, values, view

    name = release or _name(names[0])
    wanted = job.job_of(_accepted_values(values.read_values(names, settings, name), names), name, nodes, processes)
    here = machine.here(python or sys.executable)
    folder = (directory or Path("runs") / name).absolute()
    shown = view.View(is_debugger=debug) if only_rank is None else view.one_rank(wanted, only_rank, folder)
    planned = plan.make_plan(wanted, here, folder, shown, None if image is None else _found(image))
    for note in differences.cluster_differences(wanted, here, planned):
        say(f"note: {note}")
    say(f"{name}: {wanted.nodes} x {wanted.processes} processes, volumes in {preparation.display_path(folder)}")
    if shown.logs is not None:
        say(f"rank {only_rank} is shown; the output of all ranks is in {preparation.display_path(shown.logs)}")
    if dry_run:
        from trainyard.commands.local import script

        click.echo("\n".join(script.shell_lines(planned, attached=debug)))
        return exit_codes.DONE
    return _run(planned, here, debug=debug)


def _found(name: str) -> Image:
    from trainyard.commands.local import errors
    from trainyard.commands.local.image import find_image

    try:
        return find_image(name)
    except errors.MissingProgramError as error:
        raise NotHereError(str(error)) from None


def _name(file: str) -> str:
    """Returns a valid release name, derived from a file name."""
    return re.sub(r"[^a-z0-9]+", "-", Path(file).stem.lower()).lstrip("-0123456789").rstrip("-") or "run"


def _accepted_values(found: Values, names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the values if the chart accepts them. Other errors are reported and do not stop the run."""
    from trainyard.counting import counted

    for note in found.notes:
        say(f"note: {note}")
    if found.refused.findings:
        _show(found.refused)
        raise click.ClickException("the chart refuses these values, so there is nothing to run")
    if found.errors.findings:
        _show(found.errors)
        count = counted(len(found.errors.findings), "error")
        details = f"`trainyard lint {' '.join(names)}` shows the details"
        say(f"note: this run would fail on a cluster, with {count}; {details}")
    return found.tree


def _show(report: Report) -> None:
    from trainyard.reporters import Style, text, wants_color

    color = wants_color("auto", on_terminal=sys.stderr.isatty())
    click.echo(text.render(report, (), Style(color=color)).rstrip(), err=True)


def _run(plan: Plan, machine: Machine, *, debug: bool) -> int:
    from trainyard.commands.local import attached, errors, preparation, processes

    try:
        preparation.check_requirements(plan, machine)
        preparation.prepare(plan)
        if debug:
            outcome = attached.run_attached(plan.nodes[0], machine.environment, plan.grace_seconds)
        else:
            outcome = processes.run_nodes(
                plan.nodes, machine.environment, plan.grace_seconds, say, plan.kill_containers
            )
    except errors.MissingProgramError as error:
        raise NotHereError(str(error)) from None
    if outcome.signal is not None:
        return exit_codes.BY_SIGNAL + outcome.signal
    if outcome.failed:
        nodes = (f"{name} {_describe_status(status)}" for name, status in outcome.failed.items())
        say(f"the run failed: {', '.join(nodes)}")
        if outcome.error is not None:
            say(f"first error: [{outcome.error.node}] {outcome.error.text.strip()}")
    return exit_codes.FAILED if outcome.failed else exit_codes.DONE


def _describe_status(status: int) -> str:
    return f"ended with status {status}" if status > 0 else f"was killed by {signal.Signals(-status).name}"
