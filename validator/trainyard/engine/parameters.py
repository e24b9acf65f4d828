"""The parameters of rules: their names, their types and the values that the user sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.engine import registry
from trainyard.engine.rule import Rule


def parameter_names(rule: Rule) -> tuple[str, ...]:
    """Returns the names of a rule's parameters as written in the configuration."""
    return tuple(name.replace("_", "-") for name in default_parameters(rule))


def default_parameters(rule: Rule) -> dict[str, Any]:
    """Returns the default values of a rule's parameters, by their names in Python."""
    defaults = registry.load_parameters(rule)
    return dict(defaults._asdict()) if defaults is not None else {}


def parameter_fault(rule: Rule, name: str, value: Any) -> str:
    """Returns the error in a parameter's value; empty if there is none."""
    default = default_parameters(rule)[name.replace("-", "_")]
    if isinstance(default, bool):
        return "" if isinstance(value, bool) else "write true or false"
    if isinstance(default, tuple):
        kind = type(default[0]) if default else str
        fits = isinstance(value, list) and all(_fits(item, kind) for item in value)
        return "" if fits else f"write a list of {'numbers' if kind in (int, float) else 'strings'}"
    if isinstance(default, int | float):
        kinds = {int: "an integer", float: "a number"}
        return "" if _fits(value, type(default)) else f"write {kinds[type(default)]}; the default is {default}"
    return "" if isinstance(value, str) else "write a string"


def resolve_parameters(
    rules: Iterable[Rule], given: Mapping[str, Mapping[str, Any]], shared: Mapping[str, tuple[str, ...]]
) -> dict[str, Any]:
    """Returns the parameters of each rule with values, set for the rule or shared by all rules that have the name."""
    result: dict[str, Any] = {}
    # The rules with parameters are imported only for a user who sets some.
    for rule in rules if given or any(shared.values()) else ():
        known = default_parameters(rule)
        values = {name: value for name, value in shared.items() if name in known and value}
        values |= {name.replace("-", "_"): value for name, value in given.get(rule.code, {}).items()}
        if values:
            frozen = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
            result[rule.code] = registry.load_parameters(rule)._replace(**frozen)
    return result


def _fits(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)
