"""Options that several commands share, and what comes of them: a configuration, an engine, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from validator.cli.chart import Chart, named_chart

if TYPE_CHECKING:
    from validator.config import Config
    from validator.engine import Engine
    from validator.linting import Report
    from validator.rule import Rule

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


class Session(NamedTuple):
    """A run of the validator, as configured."""

    config: Config
    engine: Engine
    files: tuple[str, ...]
    chart: Chart | None = None

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on."""
        return tuple(self.engine.rules)

    def lint(self) -> Report:
        """Judge what the user named."""
        from validator import files, linting

        readings = [linting.read(file) for file in files.load(self.files, self.config.exclude)]
        if self.chart is not None:
            version = self.config.target.kubernetes
            readings += self.chart.read(".".join(map(str, version)) if version else None)
        return linting.lint(readings, self.engine, self.config.allow)


def session(
    names: tuple[str, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    pedantic: bool,
    auditor: bool,
    target: tuple[str, ...],
    profile: str | None,
    config_file: Path | None,
    **release: Any,
) -> Session:
    """The configuration file with the options over it, and the engine for that."""
    from validator import config as configuration
    from validator import selection as selecting
    from validator.engine import Engine

    chart = named_chart(**release)
    if not names and chart is None:
        raise click.UsageError("name a file, a folder or `-` for standard input; `trainyard lint .` takes this folder")
    path = config_file or configuration.find(Path.cwd())
    config = configuration.load(path) if path is not None else configuration.Config()
    wanted = config.target
    for text in target:
        name, equals, version = text.partition("=")
        if not equals:
            raise click.UsageError(f"--target {text}: write NAME=VERSION, as nccl=2.21")
        wanted = configuration.target(name, version, "--target", wanted)
    config = config._replace(
        target=wanted,
        profile=configuration.profile(profile, "--profile") if profile else config.profile,
        select=_split(select) or config.select,
        ignore=(*config.ignore, *_split(ignore)),
        pedantic=pedantic or config.pedantic,
        auditor=auditor or config.auditor,
    )
    rules = selecting.select(config.select, config.ignore, config.persona)
    return Session(config, Engine(rules, config.target, config.profile, config.parameters_of(rules)), names, chart)


def _split(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
