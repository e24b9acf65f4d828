"""Selects rules: by strictness, by code, by code prefix, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from trainyard.document.errors import MistakeError
from trainyard.engine import registry
from trainyard.engine.rule import SEVERITIES, Rule, Severity
from trainyard.engine.suggestions import closest_match

Persona = Literal["regular", "pedantic", "auditor"]
PERSONAS: tuple[Persona, ...] = ("regular", "pedantic", "auditor")

# Always on: a text that was not checked must not look like a clean one.
ALWAYS = ("unreadable-document", "nothing-linted")


class UnknownRuleError(MistakeError):
    """A selector that matches no rule; `args[0]` names it and suggests another."""


def select(
    selected: Sequence[str],
    ignored: Iterable[str],
    persona: Persona = "regular",
    min_severity: Severity = "info",
    checks: Sequence[Rule] = (),
) -> tuple[Rule, ...]:
    """Returns the rules that are on, among those of Trainyard and `checks`; those below `min_severity` are not.

    Without a selection these are all of the persona and the less strict ones. A prefix selects among them; the full
    code or name of a rule turns it on in any persona.
    """
    strictness = PERSONAS.index(persona)
    known = (*registry.rules(), *checks)
    on = {rule.code for rule in known if rule.name in ALWAYS}
    for selector in selected or ("",):
        exact = registry.find_rule(selector, checks) is not None
        found = matching_rules(selector, checks)
        on |= {rule.code for rule in found if exact or PERSONAS.index(rule.persona) <= strictness}
    for selector in ignored:
        on -= {rule.code for rule in matching_rules(selector, checks)}
    grave = SEVERITIES[: SEVERITIES.index(min_severity) + 1]
    return tuple(rule for rule in known if rule.code in on and rule.severity in grave)


def matching_rules(selector: str, checks: Sequence[Rule] = ()) -> list[Rule]:
    """Returns the rule with this code or name, or those whose code starts with it."""
    exact = registry.find_rule(selector, checks)
    if exact is not None:
        return [exact]
    found = [rule for rule in (*registry.rules(), *checks) if rule.code.startswith(selector.upper())]
    if not found:
        hint = suggestion(selector, checks) or "`trainyard rules` lists all"
        raise UnknownRuleError(f"no rule has the code or name `{selector}`, nor a code that starts with it; {hint}")
    return found


def find_one(code_or_name: str, checks: Sequence[Rule] = ()) -> Rule:
    """Returns the rule with this code or name."""
    rule = registry.find_rule(code_or_name, checks)
    if rule is None:
        hint = suggestion(code_or_name, checks) or "`trainyard rules` lists all"
        raise UnknownRuleError(f"there is no rule `{code_or_name}`; {hint}")
    return rule


def suggestion(wrong: str, checks: Sequence[Rule] = ()) -> str:
    """Returns a suggestion as a question; empty if no name is similar."""
    names = [text for rule in (*registry.rules(), *checks) for text in (rule.name, rule.code)]
    return nearest(wrong, names)


def nearest(wrong: str, names: Iterable[str]) -> str:
    """Returns `did you mean ...?` with the most similar name, in any case; empty if none is similar.

    Names that begin with the same words come first: a rule that was renamed keeps these.
    """
    by_lower = {name.lower(): name for name in names}
    word = wrong.lower().replace("_", "-")
    words = word.split("-")
    starts = ("-".join(words[:count]) for count in range(len(words), 0, -1))
    alike = ([name for name in by_lower if f"{name}-".startswith(f"{start}-")] for start in starts)
    found = next(filter(None, (closest_match(word, known, 0.6) for known in (*alike, by_lower) if known)), None)
    return f"did you mean `{by_lower[found]}`?" if found is not None else ""
