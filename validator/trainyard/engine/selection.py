"""Which rules are on: by strictness, by code, by the start of a code, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from validator import registry
from validator.mistake import MistakeError
from validator.rule import Rule
from validator.spelling import closest

Persona = Literal["regular", "pedantic", "auditor"]
PERSONAS: tuple[Persona, ...] = ("regular", "pedantic", "auditor")

# On whatever is selected: a text that was not checked must not look like one that is clean.
ALWAYS = ("unreadable-document", "nothing-linted")


class UnknownRuleError(MistakeError):
    """A selector that fits no rule; `args[0]` says which, and what may be meant."""


def select(selected: Sequence[str], ignored: Iterable[str], persona: Persona = "regular") -> tuple[Rule, ...]:
    """The rules that are on.

    Without a selection these are all of the persona and the less strict ones. A prefix selects among them; the full
    code or name of a rule turns it on in any persona.
    """
    strictness = PERSONAS.index(persona)
    on = {rule.code for rule in registry.rules() if rule.name in ALWAYS}
    for selector in selected or ("",):
        exact = registry.find(selector) is not None
        on |= {rule.code for rule in fitting(selector) if exact or PERSONAS.index(rule.persona) <= strictness}
    for selector in ignored:
        on -= {rule.code for rule in fitting(selector)}
    return tuple(rule for rule in registry.rules() if rule.code in on)


def fitting(selector: str) -> list[Rule]:
    """The rule with this code or name, or those whose code starts with it."""
    exact = registry.find(selector)
    if exact is not None:
        return [exact]
    found = [rule for rule in registry.rules() if rule.code.startswith(selector.upper())]
    if not found:
        hint = suggestion(selector) or "`trainyard rules` lists all"
        raise UnknownRuleError(f"no rule has the code or name `{selector}`, nor a code that starts with it; {hint}")
    return found


def one(code_or_name: str) -> Rule:
    """The rule with this code or name."""
    rule = registry.find(code_or_name)
    if rule is None:
        hint = suggestion(code_or_name) or "`trainyard rules` lists all"
        raise UnknownRuleError(f"there is no rule `{code_or_name}`; {hint}")
    return rule


def suggestion(wrong: str) -> str:
    """What may be meant, as a question; empty when nothing is near."""
    names = [text for rule in registry.rules() for text in (rule.name, rule.code)]
    return nearest(wrong, names)


def nearest(wrong: str, names: Iterable[str]) -> str:
    """`did you mean ...?` with the nearest of the names, in any case; empty when none is near."""
    by_lower = {name.lower(): name for name in names}
    found = closest(wrong.lower().replace("_", "-"), by_lower, 0.6)
    return f"did you mean `{by_lower[found]}`?" if found is not None else ""
