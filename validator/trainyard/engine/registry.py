"""All rules: every module in `validator/rules/<family>` holds one, under the name of its file.

Importing two hundred modules takes longer than linting a file. `validator/index.py`, which is generated, has what is to
be known of the rules; the module of a rule is imported when there is something for it to look at.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from validator import index
from validator.rule import Check, Problem, Rule

if TYPE_CHECKING:
    from pathlib import Path


@functools.cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by code. Those with parameters are imported, since their types are in the module."""
    return tuple(
        load(entry["module"])
        if entry["parameters"]
        else Rule(**{**entry, "parameters": None}, check=_Later(entry["module"]))
        for entry in index.RULES
    )


@functools.cache
def load(module: str) -> Rule:
    """The rule in a module."""
    found: Rule = getattr(importlib.import_module(module), module.rsplit(".", 1)[-1])
    return found


def folder() -> Path:
    """Where the rules are, a folder for each family."""
    from pathlib import Path

    return Path(__file__).parent / "rules"


def discover() -> tuple[Rule, ...]:
    """Every rule that there is a file for, by code: what the index is made from."""
    modules = (f"validator.rules.{p.parent.name}.{p.stem}" for p in folder().glob("*/*.py") if p.stem != "__init__")
    return tuple(sorted(map(load, modules), key=lambda rule: rule.code))


class _Later:
    """The check of a rule whose module is imported with the first call."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self, *asked: Any) -> Iterator[Problem]:
        return load(self.module).check(*asked)


def imported(check: Check) -> Check:
    """The check itself, its module imported: for those who call it again and again."""
    return load(check.module).check if isinstance(check, _Later) else check


def find(code_or_name: str) -> Rule | None:
    """The rule with this code or name, in any case."""
    return _by_word().get(code_or_name.lower().replace("_", "-"))


@functools.cache
def _by_word() -> dict[str, Rule]:
    return {word: rule for rule in rules() for word in (rule.name, rule.code.lower())}


def page(rule: Rule) -> str:
    """The rule's documentation, in Markdown."""
    return (importlib.import_module(rule.module).__doc__ or "").strip()
