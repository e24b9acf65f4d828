"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from validator.cli.chart import named_chart
from validator.session import Options, start

if TYPE_CHECKING:
    from validator.session import Session

Function = Callable[..., Any]


def _rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from validator import registry

    known = (text for rule in registry.rules() for text in (rule.name, rule.code))
    return [text for text in known if text.lower().startswith(incomplete.lower())]


def _profiles(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from validator.facts import profiles

    return [name for name in profiles.names() if name.startswith(incomplete)]


RULE = click.argument("rule", shell_complete=_rules)
FILES = click.argument("files", nargs=-1, metavar="FILE|FOLDER|-...", type=click.Path())

_SELECTION = (
    click.option(
        "--select",
        multiple=True,
        metavar="RULE",
        shell_complete=_rules,
        help="Only these rules: codes (NC005), starts of codes (NC) or names; repeat it, or separate them by commas.",
    ),
    click.option(
        "--ignore", multiple=True, metavar="RULE", shell_complete=_rules, help="Not these rules; written as --select."
    ),
    click.option("--pedantic", is_flag=True, help="Also rules that advise, or that are only probably right."),
    click.option("--auditor", is_flag=True, help="Also rules that point at what a person should look at."),
    click.option(
        "--target",
        multiple=True,
        metavar="NAME=VERSION",
        help="A version that the run will meet: nccl=2.21, torch=2.7, trainer=2.1, kubernetes=1.33.",
    ),
    click.option("--profile", metavar="NAME", shell_complete=_profiles, help="The fabric of the cluster, as eks-efa."),
    click.option(
        "--site",
        metavar="FILE",
        type=click.Path(),
        help="Values of charts/training-platform: runs are judged as they would be on this site.",
    ),
    click.option(
        "--config",
        "config_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="The configuration; without it .trainyard.yaml or pyproject.toml in this folder or above.",
    ),
)


def selection(function: Function) -> Function:
    """The options that say what is looked for."""
    for option in reversed(_SELECTION):
        function = option(function)
    return function


def session(names: tuple[str, ...], **options: Any) -> Session:
    """The session for what is on the command line."""
    own = {name: options.pop(name) for name in Options._fields}
    chart = named_chart(**options)
    if not names and chart is None:
        raise click.UsageError("name a file, a folder or `-` for standard input; `trainyard lint .` takes this folder")
    return start(names, Options(**own), chart)
