"""The facts about a rule below its page, for `trainyard explain` and for editors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainyard.engine import links, parameters

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule

_FIX = {"safe": "`trainyard fix` corrects it", "unsafe": "`trainyard fix --unsafe` corrects it", None: "by hand"}
_WHEN = {"regular": "always", "pedantic": "with --pedantic", "auditor": "with --auditor"}


def facts(rule: Rule) -> Iterator[tuple[str, str]]:
    """Yields names and values: severity, strictness, fix, parameters, and sources."""
    yield "severity", f"{rule.severity}, confidence {rule.confidence}"
    yield "on", _WHEN[rule.persona]
    if rule.of_profile or rule.of_site:
        yield "needs", "--profile NAME" if rule.of_profile else "--site FILE"
    yield "fix", _FIX[rule.fix]
    if rule.since:
        yield "since", rule.since
    for name, default in parameters.default_parameters(rule).items():
        shown = list(default) if isinstance(default, tuple) else default
        yield "parameter", f"rules.{rule.code}.{name.replace('_', '-')}: {shown}"
    yield "page", links.rule_url(rule)
    for source in rule.sources:
        yield "source", source
