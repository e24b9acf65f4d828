"""A run of the validator: what the user wants, from the configuration and the options, and the engine for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from validator import config as configuration
from validator import selection
from validator.engine import Engine

if TYPE_CHECKING:
    from validator.cli.chart import Chart
    from validator.config import Config
    from validator.linting import Report
    from validator.rule import Rule
    from validator.site import Site


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
        from validator import files, linting, screening

        found = files.find(self.files, self.config.exclude)
        readings = screening.read(found, self.engine)
        if self.chart is not None:
            version = self.config.target.kubernetes
            readings += self.chart.read(".".join(map(str, version)) if version else None, self.engine.site)
            names = [reading.source.name for reading in readings]
        else:
            names = [one.name for one in found]
        return linting.lint(readings, self.engine, self.config.allow)._replace(files=tuple(names))


class Options(NamedTuple):
    """What the user says on the command line; all of it wins over the configuration file."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pedantic: bool = False
    auditor: bool = False
    target: tuple[str, ...] = ()
    profile: str | None = None
    site: str | None = None
    config_file: Any = None


def start(names: tuple[str, ...], options: Options | None = None, chart: Chart | None = None) -> Session:
    """The session for these files. Raises `MistakeError`."""
    given = options or Options()
    path = str(given.config_file) if given.config_file else configuration.find(os.getcwd())
    config = configuration.load(path) if path is not None else configuration.Config()
    wanted = config.target
    for text in given.target:
        name, equals, version = text.partition("=")
        if not equals:
            raise configuration.ConfigError(f"--target {text}: write NAME=VERSION, as nccl=2.21")
        wanted = configuration.target(name, version, "--target", wanted)
    config = config._replace(
        target=wanted,
        profile=configuration.profile(given.profile, "--profile") if given.profile else config.profile,
        site=given.site or config.site,
        select=_split(given.select) or config.select,
        ignore=(*config.ignore, *_split(given.ignore)),
        pedantic=given.pedantic or config.pedantic,
        auditor=given.auditor or config.auditor,
    )
    rules = selection.select(config.select, config.ignore, config.persona)
    return Session(config, engine(config, rules, _site(config)), names, chart)


def engine(config: Config, rules: tuple[Rule, ...], site: Site | None) -> Engine:
    """The engine for rules, with all that the user wants, on a site that is already read. Raises `MistakeError`."""
    return Engine(rules, config.target, config.profile, config.parameters_of(rules), site)


def _site(config: Config) -> Site | None:
    if config.site is None:
        return None
    from validator.roads.site.loading import load

    return load(config.site)


def _split(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
