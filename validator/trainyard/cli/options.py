"""Options that several commands share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli import output
from trainyard.cli.chart import named_chart
from trainyard.cli.option_list import Function, option_list
from trainyard.engine.rule import SEVERITIES
from trainyard.linting.session import Options, start_session

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule
    from trainyard.linting.config import Config
    from trainyard.linting.session import Session


def load_configuration(named: Path | None = None) -> Config:
    """Returns the configuration, for commands that lint nothing."""
    from trainyard.linting.config import load_config
    from trainyard.linting.discovery import discover

    if named is not None:
        return load_config(str(named))
    found = discover(str(Path.cwd()))
    return load_config(found.path, found.root)


def rule_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    """Returns the names and codes of rules that a word on the command line may become."""
    from contextlib import suppress

    from trainyard.document.errors import MistakeError
    from trainyard.engine import registry

    checks: tuple[Rule, ...] = ()
    with suppress(MistakeError):
        checks = load_configuration().check_rules
    known = (text for rule in (*registry.rules(), *checks) for text in (rule.name, rule.code))
    return [text for text in known if text.lower().startswith(incomplete.lower())]


def _severities(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    return [name for name in SEVERITIES if name.startswith(incomplete)]


def _profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from trainyard.facts import profiles

    return [name for name in profiles.profile_names() if name.startswith(incomplete)]


RULE = click.argument("rule", shell_complete=rule_names)
FILES = click.argument("files", nargs=-1, metavar="FILE|FOLDER|-...", type=click.Path())

_SELECTION = (
    click.option(
        "--select",
        multiple=True,
        metavar="RULE",
        shell_complete=rule_names,
        help="Run only these rules: codes (NC005), code prefixes (NC) or names, separated by commas. Repeatable.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="RULE",
        shell_complete=rule_names,
        help="Skip these rules, in the form of --select.",
    ),
    click.option("--pedantic", is_flag=True, help="Also run rules that advise, and rules of medium confidence."),
    click.option("--auditor", is_flag=True, help="Also run rules that point out settings for a person to review."),
    click.option(
        "--min-severity",
        metavar="SEVERITY",
        shell_complete=_severities,
        help="Report only findings of at least this severity: error, warning or info.",
    ),
    click.option(
        "--target",
        multiple=True,
        metavar="NAME=VERSION",
        help="Version of a component: `nccl=2.21`, `torch=2.7`, `trainer=2.3`, `kubernetes=1.33`, `kueue=0.19`.",
    ),
    click.option(
        "--profile",
        metavar="NAME",
        shell_complete=_profiles,
        help="Fabric of the cluster, such as eks-efa, oke-roce or gke-gib: its settings and devices are checked.",
    ),
    click.option(
        "--site",
        metavar="FILE",
        type=click.Path(),
        help="Values of charts/training-platform. Runs are checked against this cluster.",
    ),
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Configuration file. Default: .trainyard.yaml or pyproject.toml in this folder or above.",
    ),
)


_OUTCOME = (
    click.option(
        "--fail-on",
        metavar="SEVERITY",
        shell_complete=_severities,
        help="Exit with 1 only for findings of at least this severity: error, warning or info (default).",
    ),
    click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings."),
)


def outcome(function: Function) -> Function:
    """Adds the options that decide which findings fail the command."""
    return option_list(*_OUTCOME)(function)


def selection(function: Function) -> Function:
    """Adds the options that select rules and their context."""
    return option_list(*_SELECTION)(function)


def session(names: tuple[str, ...], **options: Any) -> Session:
    """Starts the session of a command line."""
    own = {name: options.pop(name) for name in Options._fields if name in options}
    chart = named_chart(**options)
    if not names and chart is None:
        command = click.get_current_context().command_path
        raise click.UsageError(f"name a file, a folder or `-` for standard input; `{command} .` takes this folder")
    if "-" in names and sys.stdin.isatty():
        output.say("note: standard input is read; Ctrl-D ends it")
    started = start_session(names, Options(**own), chart)
    for note in started.notes:
        output.say(f"note: {note}")
    return started
