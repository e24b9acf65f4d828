"""Text for people: the place, the fault, the line with the fault marked, and the remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from trainyard.counting import counted
from trainyard.document.source import lines
from trainyard.reporters.escaping import path, visible, without_commands

if TYPE_CHECKING:
    from trainyard.document.source import Position
    from trainyard.engine.finding import Finding
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report
    from trainyard.reporters import Style

MAX_WIDTH = 120
MAX_NOTES = 20
# More findings with one message than this are shown as one, with the places of the others below it.
MAX_REPEATS = 5
_COLORS = {"error": "1;31", "warning": "1;33", "info": "1;36", "bold": "1", "frame": "34", "help": "1;32"}


def render(report: Report, rules: Sequence[Rule], style: Style) -> str:  # noqa: ARG001
    """Returns all findings, those with one message below the first of them if they are many, then their number."""
    paint = _Paint(style.color, links=style.links)
    shown = [
        line
        for finding, repeats in _folded(report.findings)
        for line in (*_finding(finding, paint), *_repeats(finding, repeats, paint), "")
    ]
    if style.statistics and report.findings:
        shown += [*_statistics(report), ""]
    return "\n".join([*shown, summary(report)]) + "\n"


def summary(report: Report) -> str:
    """Returns the number of findings, of files, and of available fixes."""
    files = counted(len(report.files), "file")
    extra = [f"{len(report.allowed)} allowed"] if report.allowed else []
    extra += [f"{report.baselined} in the baseline"] if report.baselined else []
    besides = f" ({', '.join(extra)})" if extra else ""
    if not report.findings:
        if report.unchecked and report.unchecked == len(report.files):
            return f"Nothing was checked in {files}{besides}."
        return f"Nothing found in {files}{besides}."
    severities = Counter(finding.rule.severity for finding in report.findings)
    counts = [counted(severities[name], name) for name in ("error", "warning") if severities[name]]
    counts += [f"{severities['info']} info"] if severities["info"] else []
    safe = sum(finding.fix == "safe" for finding in report.findings)
    unsafe = sum(finding.fix == "unsafe" for finding in report.findings)
    text = f"Found {', '.join(counts)} in {files}{besides}."
    text += f" `trainyard fix` corrects {safe} [*]." if safe else ""
    return text + (f" `trainyard fix --unsafe` corrects {unsafe}{' more' if safe else ''}." if unsafe else "")


def notes(report: Report) -> str:
    """Returns a line for each file or chart that was not checked; for many files, only the first of them."""
    shown = [f"note: {visible(note)}" for note in report.notes[:MAX_NOTES]]
    more = len(report.notes) - len(shown)
    shown += [f"note: {more} more were not checked; `--output-format json` lists all"] if more else []
    return "".join(f"{line}\n" for line in shown)


class _Paint:
    """Colours, or none."""

    def __init__(self, on: bool, *, links: bool) -> None:
        self._on = on
        self._links = links

    def __call__(self, name: str, text: str) -> str:
        return f"\033[{_COLORS[name]}m{text}\033[0m" if self._on and text else text

    def link(self, rule: Rule) -> str:
        """Returns the name of a rule, as a hyperlink to its page if the terminal may show one (OSC 8)."""
        if not self._links:
            return rule.name
        from trainyard.engine.links import rule_url

        return f"\033]8;;{rule_url(rule)}\033\\{rule.name}\033]8;;\033\\"


def _finding(finding: Finding, paint: _Paint) -> Iterator[str]:
    rule = finding.rule
    mark = " [*]" if finding.fix == "safe" else ""
    place = paint("bold", _place(finding.position))
    head = paint(rule.severity, f"{rule.severity} {rule.code}")
    yield f"{place}: {head} {paint.link(rule)}{mark}: {visible(finding.message)}"
    margin = " " * len(str(finding.position.line))
    excerpt = _excerpt(finding.position)
    if excerpt is not None:
        words, carets = excerpt
        bar = paint("frame", "|")
        yield f"{margin} {bar}"
        yield f"{paint('frame', str(finding.position.line))} {bar} {words}".rstrip()
        yield f"{margin} {bar} {paint(rule.severity, carets)}"
    for position, why in finding.related:
        yield f"{margin} {paint('frame', '=')} {paint('bold', 'note')}: {visible(why)}: {_place(position)}"
    if finding.help:
        yield f"{margin} {paint('frame', '=')} {paint('help', 'help')}: {visible(finding.help)}"


def _folded(findings: Sequence[Finding]) -> Iterator[tuple[Finding, Sequence[Finding]]]:
    """Yields each finding with those that it stands for."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for one in findings:
        alike.setdefault(_cause(one), []).append(one)
    for one in findings:
        group = alike[_cause(one)]
        if len(group) <= MAX_REPEATS:
            yield one, ()
        elif one is group[0]:
            yield one, group[1:]


def _cause(finding: Finding) -> tuple[object, ...]:
    """Returns what findings share for which one text can stand; notes about other places belong to one finding."""
    own = finding.position if finding.related else None
    return finding.rule.code, finding.message, finding.help, finding.fix, own


def _repeats(finding: Finding, repeats: Sequence[Finding], paint: _Paint) -> Iterator[str]:
    """Yields a line for each file with findings that the shown one stands for."""
    numbers: dict[str, list[str]] = {}
    for one in repeats:
        numbers.setdefault(one.position.source.name, []).append(str(one.position.line))
    if repeats:
        margin = f"{' ' * len(str(finding.position.line))} {paint('frame', '=')}"
        yield f"{margin} {paint('bold', 'note')}: {len(repeats)} more with this message, in these lines:"
        yield from (f"{margin}   {path(name)}:{', '.join(found)}" for name, found in numbers.items())


def _place(position: Position) -> str:
    return f"{path(position.source.name)}:{position.line}:{position.column}"


def _excerpt(position: Position) -> tuple[str, str] | None:
    """Returns the line of a position and the carets below it, cut to a width that fits a terminal."""
    numbered = lines(position.source)
    line = numbered[position.line - 1] if position.line <= len(numbered) else ""
    if not line.strip():
        return None
    start = min(position.column - 1, len(line))
    end = position.end_column - 1 if position.end_line == position.line else len(line)
    end = max(start + 1, min(end, len(line)))
    first = 0 if end <= MAX_WIDTH else max(0, start - MAX_WIDTH // 4)
    last = first + MAX_WIDTH
    before, marked = visible(line[first:start]), visible(line[start : min(end, last)])
    dots = "..." if first else ""
    words = dots + before + marked + visible(line[min(end, last) : last]) + ("..." if last < len(line) else "")
    return without_commands(words), " " * (len(dots) + _width(before)) + "^" * max(1, _width(marked))


def _width(text: str) -> int:
    """Returns the number of columns of a text on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _statistics(report: Report) -> Iterator[str]:
    counts = Counter(finding.rule.code for finding in report.findings)
    names = {finding.rule.code: finding.rule.name for finding in report.findings}
    for code, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"{count:6}  {code}  {names[code]}"
