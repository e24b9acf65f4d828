"""The configuration: `.trainyard.yaml`, or `[tool.trainyard]` in pyproject.toml. Errors name the remedy."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from trainyard.document import opening
from trainyard.document.document import Document, Place
from trainyard.document.errors import MistakeError
from trainyard.document.lookup import decimal
from trainyard.document.source import Source
from trainyard.document.text import Text
from trainyard.engine import parameters
from trainyard.engine.rule import SEVERITIES, Severity, Target
from trainyard.engine.selection import Persona, UnknownRuleError, find_one, matching_rules, nearest
from trainyard.linting.suppression import Allowance
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from trainyard.checks.check import Check
    from trainyard.engine.rule import Rule

# tomllib takes quadratic time for the parts of a key.
_MAX_KEY_PARTS = 100
_REMEDY = "name a .trainyard.yaml, or leave out --config"


class ConfigError(MistakeError):
    """A user's mistake in the configuration or an option; `args[0]` gives the place, the mistake and the remedy."""


class Config(NamedTuple):
    """The user's settings, from the file and the command line together.

    `root` is the folder that `site` of the file may not leave; None if the user named the site, or the file.
    `check_rules` are the rules that the checks become.
    """

    path: str | None = None
    root: str | None = None
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
    checks: tuple[Check, ...] = ()
    check_rules: tuple[Rule, ...] = ()

    @property
    def persona(self) -> Persona:
        """The strictness."""
        return "auditor" if self.auditor else "pedantic" if self.pedantic else "regular"

    def parameters_of(self, rules: Iterable[Rule]) -> dict[str, Any]:
        """Returns the rule parameters that differ from their defaults, by code."""
        return parameters.resolve_parameters(rules, self.rules, {"known_networks": self.known_networks})


def load_config(name: str | None, root: str | None = None) -> Config:
    """Returns the configuration in a file, or the defaults. Raises `MistakeError`.

    `root` is the folder that neither the file nor those that it names may leave; None if the user named the file.
    """
    if name is None:
        return Config()
    from pathlib import Path

    path = Path(name)
    try:
        source = Source(name, opening.read_text(name, root))
    except (OSError, UnicodeDecodeError) as error:
        reason = opening.reason(error) if isinstance(error, OSError) else "it is not UTF-8 text"
        remedy = _REMEDY if root is None else "`--config FILE` names another one"
        raise ConfigError(f"{path}: it cannot be read: {reason}; {remedy}") from None
    document = _toml(source) if path.suffix == ".toml" else _yaml(source)
    if document.tree is None:
        return Config(path=str(path), root=root)
    return _Reader(str(path), document, root).config()


def parse_version(text: str, where: str) -> tuple[int, ...]:
    """Returns `2.21.5`, `v1.33` or `2.7.1+cu128` as numbers. Raises `ConfigError`."""
    numbers = []
    for part in text.strip().removeprefix("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        number = decimal(digits)
        if number is None:
            break
        numbers.append(number)
        if digits != part:
            break
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
    if len(documents) > 1:
        raise ConfigError(f"{source.name}: write one document, without `---` between two")
    return documents[0] if documents else Text(source)


def _toml(source: Source) -> Document:
    import tomllib

    if _longest_key(source.text) > _MAX_KEY_PARTS:
        raise ConfigError(f"{source.name}: a key has more than {_MAX_KEY_PARTS} parts")
    try:
        tree: Any = tomllib.loads(source.text)
    except RecursionError:
        raise ConfigError(f"{source.name}: it is nested too deeply") from None
    except ValueError as error:
        # Python's own advice about long numbers is for programmers.
        reason = "a number has too many digits" if "integer string" in str(error) else error
        raise ConfigError(f"{source.name}: {reason}") from None
    tools = tree.get("tool", {})
    if not isinstance(tools, dict):
        raise ConfigError(f"{source.name}: `tool` is not a table")
    document = Text(source)
    document.tree = tools.get("trainyard")
    return document


def _longest_key(text: str) -> int:
    """Returns the greatest number of parts in a key of TOML text, or more: a text may look like a key."""
    words = re.split(r"[\n=,{}\[\]]", re.sub(r"[ \t]+", "", text))
    return max(len(re.findall(r"[\w\"'-]\.(?=[\w\"'-])", word)) + 1 for word in words)


class _Reader:
    """Checks a configuration's tree, key by key."""

    def __init__(self, name: str, document: Document, root: str | None) -> None:
        self._name = name
        self._root = root
        self._document = document
        self._check_rules: tuple[Rule, ...] = ()

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
            "checks": self._checks,
        }
        tree = self._mapping("", self._document.tree)
        self._known("", tree, readers)
        # The other keys may name checks.
        ordered = sorted(tree, key=lambda key: key != "checks")
        values = {key.replace("-", "_"): readers[key](key, tree[key]) for key in ordered if tree[key] is not None}
        return Config(path=self._name, root=self._root, check_rules=self._check_rules, **values)

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
                matching_rules(selector, self._check_rules)
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
                rule = find_one(name, self._check_rules)
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

    def _checks(self, key: str, value: Any) -> tuple[Check, ...]:  # noqa: ARG002
        from trainyard.checks.check import rule_of
        from trainyard.linting.check_config import Checks

        checks = Checks(self._name, self._document, self._root).read(value)
        self._check_rules = tuple(map(rule_of, checks))
        return checks

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
