"""All rules: every module in `trainyard/rules/<family>` holds one, under the name of its file.

Importing two hundred modules takes longer than linting a file. The generated `rule_index.py` holds everything that the
engine needs to know of each rule; a rule's module is imported when there is something for it to check.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trainyard.engine import rule_index
from trainyard.engine.rule import Check, Problem, Rule

if TYPE_CHECKING:
    from pathlib import Path


_RULES = "trainyard.rules"


# Names that rules had in earlier releases, for suppressions and configurations that hold them.
FORMER_NAMES = {"exit-code-masked-by-tee": "sc001"}


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Returns every rule by code."""
    return tuple(map(_known, rule_index.RULES))


def _known(entry: dict[str, Any]) -> Rule:
    fields = dict(entry)
    name = fields.pop("name")
    module = f"{_RULES}.{fields.pop('family')}.{name}"
    return Rule(name=name.replace("_", "-"), module=module, check=_Later(module), **fields)


@functools.cache
def load_rule(module: str) -> Rule:
    """Returns the rule in a module."""
    found: Rule = getattr(importlib.import_module(module), module.rsplit(".", 1)[-1])
    return found


def folder() -> Path:
    """Returns the folder of the rules, which has a folder for each family."""
    from pathlib import Path

    return Path(__file__).parents[1] / "rules"


def discover() -> tuple[Rule, ...]:
    """Returns every rule that has a file, by code: the source of the index."""
    modules = (f"{_RULES}.{p.parent.name}.{p.stem}" for p in folder().glob("*/*.py") if p.stem != "__init__")
    return tuple(sorted(map(load_rule, modules), key=lambda rule: rule.code))


class _Later:
    """A check whose module is imported with the first call."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self, *asked: Any) -> Iterator[Problem]:
        return load_rule(self.module).check(*asked)


def load_check(check: Check) -> Check:
    """Returns the check itself, with its module imported, for callers that use it again and again."""
    return load_rule(check.module).check if isinstance(check, _Later) else check


def load_parameters(rule: Rule) -> Any:
    """Returns the parameters of a rule with their default values, None for a rule without; their type is in its module.

    A rule of the index has `True` for them.
    """
    return load_rule(rule.module).parameters if rule.parameters is True else rule.parameters


def find_rule(code_or_name: str, checks: Sequence[Rule] = ()) -> Rule | None:
    """Returns the rule with this code or name, in any case. `checks` are the rules of a configuration."""
    word = code_or_name.lower().replace("_", "-")
    own = (check for check in checks if word in (check.name, check.code.lower()))
    return _by_word().get(word) or next(own, None)


@functools.cache
def _by_word() -> dict[str, Rule]:
    known = {word: rule for rule in rules() for word in (rule.name, rule.code.lower())}
    return known | {former: known[code] for former, code in FORMER_NAMES.items()}


def page(rule: Rule) -> str:
    """Returns the rule's documentation, in Markdown."""
    return rule.page or (importlib.import_module(rule.module).__doc__ or "").strip()
