"""The configuration: `.trainyard.yaml`, or `[tool.trainyard]` in pyproject.toml. Errors name the remedy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from trainyard.document.document import Document, Place
from trainyard.document.errors import MistakeError
from trainyard.document.lookup import decimal
from trainyard.document.source import Source
from trainyard.document.text import Text
from trainyard.engine import parameters
from trainyard.engine.rule import SEVERITIES, Severity, Target
from trainyard.engine.selection import Persona, UnknownRuleError, find_one, matching_rules, nearest
from trainyard.linting.suppression import Allowance

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule

_REMEDY = "name a .trainyard.yaml, or leave out --config"
NAMES = (".trainyard.yaml", ".trainyard.yml", "pyproject.toml")


class ConfigError(MistakeError):
    """A user's mistake in the configuration or an option; `args[0]` gives the place, the mistake and the remedy."""


class Config(NamedTuple):
    """The user's settings, from the file and the command line together."""

    path: str | None = None
    target: Target = Target()
    profile: str | None = None
    site: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    pedantic: bool = False
    auditor: bool = False
    rules: dict[str, Any] = {}  # noqa: RUF012 - never changed
    allow: tuple[Allowance, ...] = ()
    known_networks: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    fail_on: Severity = "info"
    min_severity: Severity = "info"
    exit_zero: bool = False

    @property
    def persona(self) -> Persona:
        """The strictness."""
        return "auditor" if self.auditor else "pedantic" if self.pedantic else "regular"

    def parameters_of(self, rules: Iterable[Rule]) -> dict[str, Any]:
        """Returns the rule parameters that differ from their defaults, by code."""
        return parameters.resolve_parameters(rules, self.rules, {"known_networks": self.known_networks})


def find_config(start: str) -> str | None:
    """Returns the nearest configuration file, in a folder or its parents up to the repository's root."""
    folder = os.path.abspath(start)
    while True:
        for name in NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and (name != "pyproject.toml" or "[tool.trainyard" in _text(path)):
                return path
        above = os.path.dirname(folder)
        if above == folder or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = above


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read()


def load_config(name: str) -> Config:
    """Returns the configuration in a file. Raises `ConfigError`."""
    from pathlib import Path

    path = Path(name)
    try:
        source = Source(name, path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"{path}: it cannot be read: {reason.lower()}; {_REMEDY}") from None
    document = _toml(source) if path.suffix == ".toml" else _yaml(source)
    if document.tree is None:
        return Config(path=str(path))
    return _Reader(str(path), document).config()


def parse_version(text: str, where: str) -> tuple[int, ...]:
    """Returns `2.21.5`, `v1.33` or `2.7.1+cu128` as numbers. Raises `ConfigError`."""
    numbers = []
    for part in text.strip().removeprefix("v").split("."):
        number = decimal(part[: len(part) - len(part.lstrip("0123456789"))])
        if number is None:
            break
        numbers.append(number)
    if not numbers:
        raise ConfigError(f"{where}: `{text}` is not a version; write one such as 2.21 or 1.33.2")
    return tuple(numbers)


def parse_profile(name: str, where: str) -> str:
    """Returns the name if there is such a fabric profile. Raises `ConfigError`."""
    from trainyard.facts import profiles

    if name not in profiles.profile_names():
        hint = nearest(name, profiles.profile_names()) or f"there are {', '.join(profiles.profile_names())}"
        raise ConfigError(f"{where}: there is no profile `{name}`; {hint}")
    return name


def parse_severity(name: str, where: str) -> Severity:
    """Returns the name if there is such a severity. Raises `ConfigError`."""
    for severity in SEVERITIES:
        if name == severity:
            return severity
    hint = nearest(name, SEVERITIES) or f"write one of {', '.join(SEVERITIES)}"
    raise ConfigError(f"{where}: there is no severity `{name}`; {hint}")


def with_target(name: str, text: str, where: str, known: Target) -> Target:
    """Returns the target with a version added. Raises `ConfigError`."""
    if name not in Target._fields:
        hint = nearest(name, Target._fields) or f"write one of {', '.join(Target._fields)}"
        raise ConfigError(f"{where}: there is no target `{name}`; {hint}")
    return known._replace(**{name: parse_version(text, where)})


def _yaml(source: Source) -> Document:
    from trainyard.document.reading import read

    documents, broken = read(source)
    if broken:
        raise ConfigError(f"{source.name}:{broken[0].line}:{broken[0].column}: {broken[0].message}")
    return documents[0] if documents else Text(source)


def _toml(source: Source) -> Document:
    import tomllib

    try:
        tree = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{source.name}: {error}") from None
    document = Text(source)
    document.tree = tree.get("tool", {}).get("trainyard")
    return document


class _Reader:
    """Checks a configuration's tree, key by key."""

    def __init__(self, name: str, document: Document) -> None:
        self._name = name
        self._document = document

    def config(self) -> Config:
        readers: dict[str, Callable[[str, Any], Any]] = {
            "target": self._target,
            "profile": lambda key, value: parse_profile(self._text(key, value), self._location(key)),
            "site": self._path,
            "select": self._selectors,
            "ignore": self._selectors,
            "pedantic": self._flag,
            "auditor": self._flag,
            "rules": self._rules,
            "allow": self._allow,
            "known-networks": self._texts,
            "exclude": self._texts,
            "respect-gitignore": self._flag,
            "fail-on": self._severity,
            "min-severity": self._severity,
            "exit-zero": self._flag,
        }
        tree = self._mapping("", self._document.tree)
        self._known("", tree, readers)
        values = {key.replace("-", "_"): readers[key](key, value) for key, value in tree.items() if value is not None}
        return Config(path=self._name, **values)

    def _location(self, key: str) -> str:
        return f"{self._name}: {key}" if key else self._name

    def _error(self, key: str, wanted: str) -> ConfigError:
        return ConfigError(f"{self._location(key)}: {wanted}")

    def _known(self, key: str, tree: dict[str, Any], names: Iterable[str]) -> None:
        for name in tree:
            if name not in names:
                hint = nearest(name, names) or f"write one of {', '.join(names)}"
                raise self._error(f"{key}.{name}" if key else name, f"there is no such key; {hint}")

    def _mapping(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(key, "write a mapping, `key: value`")
        return value

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise self._error(key, f"write a string, not {_format(value)}")
        return value

    def _path(self, key: str, value: Any) -> str:
        """Returns the path of a file; its name is relative to the configuration's folder."""
        return os.path.join(os.path.dirname(self._name), self._text(key, value))

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(key, f"write a list of strings, not {_format(value)}")
        return tuple(value)

    def _flag(self, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self._error(key, f"write true or false, not {_format(value)}")
        return value

    def _severity(self, key: str, value: Any) -> Severity:
        return parse_severity(self._text(key, value), self._location(key))

    def _selectors(self, key: str, value: Any) -> tuple[str, ...]:
        selectors = self._texts(key, [value] if isinstance(value, str) else value)
        for selector in selectors:
            try:
                matching_rules(selector)
            except UnknownRuleError as error:
                raise self._error(key, str(error)) from None
        return selectors

    def _target(self, key: str, value: Any) -> Target:
        result = Target()
        for name, written in self._mapping(key, value).items():
            if isinstance(written, float):
                raise self._error(f"{key}.{name}", "put the version in quotes: 2.20 without them is the number 2.2")
            if not isinstance(written, str | int) or isinstance(written, bool):
                raise self._error(f"{key}.{name}", f"write a version, not {_format(written)}")
            result = with_target(name, str(written), self._location(f"{key}.{name}"), result)
        return result

    def _rules(self, key: str, value: Any) -> dict[str, Any]:
        result = {}
        for name, given in self._mapping(key, value).items():
            try:
                rule = find_one(name)
            except UnknownRuleError as error:
                raise self._error(f"{key}.{name}", str(error)) from None
            known = parameters.parameter_names(rule)
            if not known:
                raise self._error(f"{key}.{name}", "this rule has no parameters; `ignore` turns a rule off")
            own = {name.replace("_", "-"): value for name, value in self._mapping(f"{key}.{name}", given).items()}
            self._known(f"{key}.{name}", own, known)
            for parameter, written in own.items():
                fault = parameters.parameter_fault(rule, parameter, written)
                if fault:
                    raise self._error(f"{key}.{name}.{parameter}", fault)
            result[rule.code] = own
        return result

    def _allow(self, key: str, value: Any) -> tuple[Allowance, ...]:
        if not isinstance(value, list):
            raise self._error(key, "write a list of entries with `rule`, `path` and `reason`")
        result = []
        for index, entry in enumerate(value):
            here = f"{key}[{index}]"
            self._known(here, self._mapping(here, entry), ("rule", "path", "reason"))
            at = Place(self._document, ("allow", index))
            pattern = self._text(f"{here}.path", entry["path"]) if "path" in entry else "*"
            reason = self._text(f"{here}.reason", entry["reason"]) if entry.get("reason") else ""
            result.append(Allowance(self._text(f"{here}.rule", entry.get("rule")), _files(pattern), reason, at))
        return tuple(result)


def _files(pattern: str) -> Callable[[str], bool]:
    from trainyard.document.folders import matches

    return lambda path: matches(path, pattern)


def _format(value: Any) -> str:
    import json

    words = "nothing" if value is None else f"`{json.dumps(value, default=str)}`"
    return words if len(words) < 60 else f"{words[:56]}...`"
