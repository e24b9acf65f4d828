"""The case files of the rules: what a rule must find, what it must leave alone, and what its fix writes."""

from __future__ import annotations

import functools
import itertools
import re
from pathlib import Path
from typing import NamedTuple

from trainyard import editing
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.engine.finding import Finding
from trainyard.engine.rule import Rule, Target
from trainyard.linting import config, pipeline
from trainyard.linting.config import ConfigError
from trainyard.loaders.site import loading
from trainyard.model.site import Site

MARK = re.compile(r"[ ]*# <- ([A-Z]{2}\d{3}(?: [A-Z]{2}\d{3})*)$", re.MULTILINE)
HEADER = re.compile(r"# (\w+): ?(.*)")
# The headers of a case file: the form of each, and an example for error messages.
HEADERS = {
    "expect": (re.compile(r"([A-Z]{2}\d{3}) on (.+)"), '# expect: DS001 on "train_batch_size": 64,'),
    "target": (re.compile(r"(\w+) (\d+(?:\.\d+)*)"), "# target: nccl 2.20"),
    "profile": (re.compile(r"(\S+)"), "# profile: eks-efa"),
    "site": (re.compile(r"(\S+)"), "# site: onprem.site.yaml"),
    "folder": (re.compile(r"([\w./-]+)"), "# folder: examples/store"),
}
# Below the first line of YAML a header would be a comment that nothing reads.
MISPLACED = re.compile(rf"^# ({'|'.join(HEADERS)}): .*", re.MULTILINE)


class Case(NamedTuple):
    """A case file without its headers and marks: the text to lint, and the (line, code) pairs that must be found."""

    path: Path
    text: str
    expected: frozenset[tuple[int, str]]
    target: Target
    profile: str | None
    site: Site | None = None
    folder: str = ""

    @property
    def source(self) -> Source:
        """The text, with the name that a user gives it."""
        return Source(f"{self.folder}/{self.path.name}" if self.folder else self.path.name, self.text)


def load(path: Path) -> Case:
    """Reads a case file.

    `# <- NC005` behind a line marks it: the rule must find it. Headers are the `# name: value` lines of the comment at
    the top of the file:

    - `# expect: DS001 on TEXT` marks the lines that read TEXT, where no comment is possible (JSON, a script).
    - `# target: nccl 2.20` sets the version of a component.
    - `# profile: eks-efa` sets the fabric profile.
    - `# site: FILE` sets the site, a file beside the case.
    - `# folder: examples` sets the folder in which a user has the file.

    Headers and marks are removed from the text that is linted. Raises `ConfigError`.
    """
    headers, text = _split(path)
    target, profile, site, folder = Target(), None, None, ""
    expected = {
        (n, code) for n, line in enumerate(text.split("\n"), 1) if (m := MARK.search(line)) for code in m[1].split()
    }
    text = MARK.sub("", text)
    for name, line, value in headers:
        match name:
            case "expect":
                expected |= {(number, value[1]) for number in _numbers(path, line, text, value[2])}
            case "target":
                target = config.with_target(value[1], value[2], f"{path}: `{line}`", target)
            case "profile":
                profile = config.parse_profile(value[1], f"{path}: `{line}`")
            case "site":
                site = _site(path, line, value[1])
            case "folder":
                folder = value[1]
    return Case(path, text, frozenset(expected), target, profile, site, folder)


def _split(path: Path) -> tuple[list[tuple[str, str, re.Match[str]]], str]:
    """Returns the headers as (name, line, value), and the text without them."""
    lines = path.read_text(encoding="utf-8").split("\n")
    comment = list(itertools.takewhile(lambda line: line.startswith("#"), lines))
    found = [(line, header) for line in comment if (header := HEADER.fullmatch(line))]
    text = "\n".join([*(line for line in comment if not HEADER.fullmatch(line)), *lines[len(comment) :]])
    if misplaced := MISPLACED.search(text):
        raise ConfigError(f"{path}: `{misplaced[0]}` is not at the top of the file")
    return [(header[1], line, _value(path, line, header)) for line, header in found], text


def _value(path: Path, line: str, header: re.Match[str]) -> re.Match[str]:
    if header[1] not in HEADERS:
        raise ConfigError(f"{path}: `{line}` is not a header; the headers are {', '.join(HEADERS)}")
    form, example = HEADERS[header[1]]
    value = form.fullmatch(header[2])
    if value is None:
        raise ConfigError(f"{path}: `{line}` is not understood; write it like `{example}`")
    return value


def _numbers(path: Path, line: str, text: str, words: str) -> list[int]:
    numbers = [n for n, read in enumerate(text.split("\n"), 1) if read.strip() == words.strip()]
    if not numbers:
        raise ConfigError(f"{path}: `{line}`: no line of the file reads {words!r}")
    return numbers


def _site(path: Path, line: str, name: str) -> Site:
    file = path.with_name(name)
    if not file.is_file():
        raise ConfigError(f"{path}: `{line}`: there is no {file}")
    return _loaded(str(file))


@functools.cache
def _loaded(file: str) -> Site:
    """One site serves many cases, and its charts take 0.1 s to render."""
    return loading.load_site(file)


def every_rule() -> tuple[Rule, ...]:
    """Every rule of the index, and those whose file the index does not know yet."""
    indexed = registry.rules()
    names = {rule.name for rule in indexed}
    return (*indexed, *(rule for rule in _discovered() if rule.name not in names))


@functools.cache
def _discovered() -> tuple[Rule, ...]:
    """The files of the rules stay while tests run, and a look for them takes as long as half a lint."""
    return registry.discover()


def words(rule: Rule) -> set[str]:
    """The names by which `pytest -k` selects a rule's tests: with dashes and with underscores."""
    return {rule.name, rule.name.replace("-", "_")}


def case_files(rule: Rule, part: str) -> list[Path]:
    """Returns the case files of a rule: `<rule>.bad.yaml`, and `<rule>.<topic>.bad.yaml` for further ones."""
    folder = registry.folder() / rule.module.split(".")[-2] / "cases"
    stem = rule.name.replace("-", "_")
    return _case_files(folder).get((stem, part), [])


@functools.cache
def _case_files(folder: Path) -> dict[tuple[str, str], list[Path]]:
    """Returns the files of a folder, which stay while tests run, by rule and part."""
    found: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.glob("*.*")):
        words = path.name.split(".")
        found.setdefault((words[0], words[-2]), []).append(path)
    return found


def lint(case: Case, rules: tuple[Rule, ...]) -> list[Finding]:
    """Returns the findings of the rules in a case."""
    reading = pipeline.read_file(File(case.source))
    about_text = {"Reading", "Suppression", "Overflow"} & {rule.subject for rule in rules}
    assert not reading.broken or about_text, f"{case.path}: {reading.broken}"
    # A suppression is known to be unused only when the rule that it names is on too.
    engine = Engine(every_rule() if about_text else rules, case.target, case.profile, site=case.site)
    report = pipeline.lint([reading], engine)
    codes = {rule.code for rule in rules}
    return [finding for finding in report.findings if finding.rule.code in codes]


def fixed(case: Case, findings: list[Finding]) -> str:
    """Returns the text of a case after all fixes of its findings."""
    source = findings[0].position.source if findings else case.source
    return editing.apply(source, [edit for finding in findings for edit in finding.edits])
