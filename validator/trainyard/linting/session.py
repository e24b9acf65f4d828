"""A run of the validator: the user's settings, from the configuration and the options, and the engine for them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from trainyard.engine import selection
from trainyard.engine.engine import Engine
from trainyard.linting import config as configuration
from trainyard.linting.discovery import Discovered, discover
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule, Severity
    from trainyard.linting.config import Config
    from trainyard.linting.fixing import Fixed
    from trainyard.linting.inputs import ChartValues
    from trainyard.linting.report import Report
    from trainyard.model.site import Site


class Session(NamedTuple):
    """A run of the validator, as configured. `notes` name a configuration that is not in the repository."""

    config: Config
    engine: Engine
    files: tuple[str, ...]
    chart: ChartValues | None = None
    notes: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are on."""
        return tuple(self.engine.rules)

    def lint(self) -> Report:
        """Lints the files or the chart that the user named."""
        from trainyard.linting import inputs, pipeline

        read = inputs.read_inputs(self.files, self.config, self.engine)
        names, readings = read.names, read.readings
        if self.chart is not None:
            readings += self.chart.read(inputs.kube_version(self.config), self.engine.site)
            names = [reading.source.name for reading in readings]
        report = pipeline.lint(readings, self.engine, self.config.allow, read.releases)
        return report._replace(files=tuple(names), notes=(*report.notes, *read.notes))

    def fix(self, *, unsafe: bool) -> Fixed:
        """Applies the fixes in memory to everything that the user named."""
        from trainyard.linting import fixing, inputs

        known = inputs.Fixable(self.files, self.config, self.engine, self.chart)
        return fixing.fix(known.files, self.engine, unsafe=unsafe, lint=known.lint)


class Options(NamedTuple):
    """The options of the command line; they override the configuration file."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pedantic: bool = False
    auditor: bool = False
    target: tuple[str, ...] = ()
    profile: str | None = None
    site: str | None = None
    config_file: Any = None
    fail_on: str | None = None
    min_severity: str | None = None
    exit_zero: bool = False


def start_session(names: tuple[str, ...], options: Options | None = None, chart: ChartValues | None = None) -> Session:
    """Returns the session for these files. Raises `MistakeError`."""
    given = options or Options()
    found = Discovered(str(given.config_file)) if given.config_file else discover(os.getcwd())
    config = configuration.load_config(found.path, found.root)
    wanted = config.target
    for text in given.target:
        name, equals, version = text.partition("=")
        if not equals:
            raise configuration.ConfigError(f"--target {text}: write NAME=VERSION, as nccl=2.21")
        wanted = configuration.with_target(name, version, "--target", wanted)
    config = config._replace(
        target=wanted,
        profile=configuration.parse_profile(given.profile, "--profile") if given.profile else config.profile,
        site=given.site or config.site,
        root=None if given.site else config.root,
        select=split_names(given.select) or config.select,
        ignore=(*config.ignore, *split_names(given.ignore)),
        pedantic=given.pedantic or config.pedantic,
        auditor=given.auditor or config.auditor,
        fail_on=configuration.parse_severity(given.fail_on, "--fail-on") if given.fail_on else config.fail_on,
        min_severity=_min_severity(given, config),
        exit_zero=given.exit_zero or config.exit_zero,
    )
    rules = selection.select(config.select, config.ignore, config.persona, config.min_severity, config.check_rules)
    return Session(config, engine(config, rules, _site(config)), names, chart, found.notes)


def _min_severity(given: Options, config: Config) -> Severity:
    if given.min_severity is None:
        return config.min_severity
    return configuration.parse_severity(given.min_severity, "--min-severity")


def engine(config: Config, rules: tuple[Rule, ...], site: Site | None) -> Engine:
    """Returns the engine for rules with the user's settings, for a site that is already read. Raises `MistakeError`."""
    return Engine(rules, config.target, config.profile, config.parameters_of(rules), site, config.check_rules)


def _site(config: Config) -> Site | None:
    if config.site is None:
        return None
    from trainyard.document import opening
    from trainyard.loaders.site.loading import SiteError, load_site

    if config.root is None:
        return load_site(config.site)
    where = f"{config.path}: site: {config.site}"
    try:
        # The text is not needed here, but whether the file may be read.
        opening.check_found(config.site, config.root)
        return load_site(config.site)
    except OSError as error:
        raise configuration.ConfigError(f"{where}: it cannot be read: {opening.reason(error)}") from None
    except SiteError:
        # The reason quotes the file, and whoever wrote the configuration chose the file.
        hint = f"`trainyard lint --site {config.site}` shows the reason"
        raise configuration.ConfigError(f"{where}: it does not hold the values of a site; {hint}") from None


def split_names(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the names in the values of an option, which commas may separate."""
    return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
