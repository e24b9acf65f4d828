"""The cases beside each rule: what it must find, what it must leave alone, and what its fix writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from validator import editing, linting, registry
from validator.engine import Engine
from validator.files import File
from validator.finding import Finding
from validator.roads.site import loading
from validator.rule import Rule, Target
from validator.site import Site
from validator.source import Source

_MARK = re.compile(r"[ ]*# <- ([A-Z]{2}\d{3}(?: [A-Z]{2}\d{3})*)$", re.MULTILINE)
_EXPECT = re.compile(r"^# expect: ([A-Z]{2}\d{3}) on (.*)\n", re.MULTILINE)
_TARGET = re.compile(r"^# target: (\w+) ([\d.]+)\n", re.MULTILINE)
_SITE = re.compile(r"^# site: (\S+)\n", re.MULTILINE)
_PROFILE = re.compile(r"^# profile: (\S+)\n", re.MULTILINE)


class Case(NamedTuple):
    """A case file without its marks: the text that is linted, and the (line, code) that must be found in it."""

    path: Path
    text: str
    expected: frozenset[tuple[int, str]]
    target: Target
    profile: str | None
    site: Site | None = None


def load(path: Path) -> Case:
    """Read a case file.

    `# <- NC005` behind a line says that this line has the fault. Where a comment is not possible, `# expect: DS001 on
    TEXT` at the top names the line by its text. `# target: nccl 2.20` sets a version, `# profile: eks-efa` a fabric,
    `# site: FILE` a site beside the case. None of these is linted.
    """
    text = path.read_text(encoding="utf-8")
    target = Target()
    for name, version in _TARGET.findall(text):
        target = target._replace(**{name: tuple(int(part) for part in version.split("."))})
    wanted = _EXPECT.findall(text)
    profile, site = _PROFILE.search(text), _SITE.search(text)
    text = _SITE.sub("", text)
    text = _PROFILE.sub("", _TARGET.sub("", _EXPECT.sub("", text)))
    lines = text.split("\n")
    expected = {(n, code) for n, line in enumerate(lines, 1) if (m := _MARK.search(line)) for code in m[1].split()}
    text = _MARK.sub("", text)
    for code, words in wanted:
        numbers = [n for n, line in enumerate(text.split("\n"), 1) if line.strip() == words.strip()]
        assert numbers, f"{path}: no line reads {words!r}"
        expected |= {(number, code) for number in numbers}
    known = loading.load(str(path.with_name(site[1]))) if site else None
    return Case(path, text, frozenset(expected), target, profile[1] if profile else None, known)


def beside(rule: Rule, part: str) -> list[Path]:
    """The case files of a rule: `<rule>.bad.yaml`, and `<rule>.<topic>.bad.yaml` for further ones."""
    folder = registry.folder() / rule.module.split(".")[-2]
    stem = rule.name.replace("-", "_")
    return sorted(path for path in folder.glob(f"{stem}.*") if path.name.split(".")[-2] == part)


def lint(case: Case, rules: tuple[Rule, ...]) -> list[Finding]:
    """The findings of the rules in a case."""
    reading = linting.read(File(Source(case.path.name, case.text)))
    about_text = {"Reading", "Suppression", "Overflow"} & {rule.subject for rule in rules}
    assert not reading.broken or about_text, f"{case.path}: {reading.broken}"
    # Whether a suppression is used can be said only when the rule that it names is on too.
    engine = Engine(registry.rules() if about_text else rules, case.target, case.profile, site=case.site)
    report = linting.lint([reading], engine)
    return [finding for finding in report.findings if finding.rule in rules]


def fixed(case: Case, rule: Rule) -> str:
    """The case's text after all fixes of the rule."""
    findings = lint(case, (rule,))
    source = findings[0].position.source if findings else Source(case.path.name, case.text)
    return editing.apply(source, [edit for finding in findings for edit in finding.edits])
