"""Messages to an editor: findings as diagnostics, and the pages of rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls import uris

from trainyard.commands.editor.ruler import Ruler
from trainyard.engine import registry
from trainyard.engine.links import rule_url
from trainyard.reporters import explanation

if TYPE_CHECKING:
    from trainyard.commands.editor.projects import Snapshot
    from trainyard.document.source import Position
    from trainyard.engine.finding import Finding
    from trainyard.engine.rule import Rule

SOURCE = "trainyard"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_WORD = re.compile(r"[\w-]+")


def diagnostic(finding: Finding, snapshot: Snapshot, ruler: Ruler, encoding: str | None) -> types.Diagnostic:
    """Returns a finding as the editor shows it."""
    return types.Diagnostic(
        range=ruler.range(finding.position),
        message=f"{finding.message}\n{finding.help}" if finding.help else finding.message,
        severity=_SEVERITIES[finding.rule.severity],
        code=finding.rule.name,
        code_description=types.CodeDescription(rule_url(finding.rule)),
        source=SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(_location(position, snapshot, encoding), words)
            for position, words in finding.related
        ],
    )


def _location(position: Position, snapshot: Snapshot, encoding: str | None) -> types.Location:
    uri = uris.from_fs_path(snapshot.path(position.source.name)) or ""
    return types.Location(uri, Ruler(position.source.text, encoding).range(position))


def hover(findings: Iterable[Finding], checks: Sequence[Rule], ruler: Ruler, at: types.Position) -> types.Hover | None:
    """Returns the pages of the findings at a position, or of the rule that the text names there."""
    found = [finding for finding in findings if covers(ruler.range(finding.position), at)]
    rules = list(dict.fromkeys(finding.rule for finding in found)) or _named(checks, ruler, at)
    if not rules:
        return None
    pages = "\n\n---\n\n".join(map(page, rules))
    area = ruler.range(found[0].position) if found else None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, pages), area)


def page(rule: Rule) -> str:
    """Returns the page of a rule in Markdown, as `trainyard explain` prints it."""
    facts = "\n".join(f"- {name}: {value}" for name, value in explanation.facts(rule))
    return f"### {rule.name} ({rule.code})\n\n{registry.page(rule)}\n\n{facts}"


def covers(area: types.Range, at: types.Position) -> bool:
    """True if a position is in a range, or at its end."""
    return (area.start.line, area.start.character) <= (at.line, at.character) <= (area.end.line, area.end.character)


def _named(checks: Sequence[Rule], ruler: Ruler, at: types.Position) -> list[Rule]:
    """Returns the rule whose name or code is at a position: in a suppression, or in the configuration."""
    offset = ruler.at(at)
    start = ruler.at(types.Position(at.line, 0))
    line = ruler.text[start : start + 1000].split("\n", 1)[0]
    words = (match[0] for match in _WORD.finditer(line) if match.start() <= offset - start <= match.end())
    return [rule for word in words if (rule := registry.find_rule(word, checks)) is not None]
