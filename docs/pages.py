"""Writes the pages with a source elsewhere: rules, their index, profiles, recall, READMEs, and the list of charts."""

from __future__ import annotations

import difflib
import importlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import mkdocs_gen_files

from tests.validator.field import measuring, reading
from tests.validator.rules import cases
from tests.validator.rules.cases import Case
from tools import markdown
from tools.recall import table as recall
from tools.site import browser_files, playground, readmes
from trainyard.engine import registry
from trainyard.engine.finding import Finding
from trainyard.engine.rule import Rule
from trainyard.facts.profiles import Profile, load_profile, profile_names
from trainyard.linting.report import Report
from trainyard.model.run import Project
from trainyard.reporters import Style, text

BADGES = {
    "regular": "on by default",
    "pedantic": "on with `--pedantic`",
    "auditor": "on with `--auditor`",
}


EXAMPLE = Path("example.yaml")
# A rule about what other rules find: alone it finds nothing.
NEEDS_OTHERS = ("unused-suppression",)
# In results of the search: hundreds of rules would hide the page of messages. A rule's own name is found all the same.
BEHIND_OTHERS = "---\nsearch: {boost: 0.2}\n---"
NOTHING = Project((), (), (), (), (), {})


def rule_page(rule: Rule) -> str:
    """A rule's page: its docstring, its facts and its cases."""
    title, _, body = registry.page(rule).partition("\n")
    facts = [
        BEHIND_OTHERS,
        f"# {rule.name} ({rule.code})",
        f"**{title}**",
        _properties(rule),
        body.strip(),
        *_parameters(rule),
        *_site(rule),
        # The example of a rule about too many findings has hundreds of them.
        *([] if rule.subject == "Overflow" else [*_reported(rule), *_accepted(rule)]),
        "## Sources\n\n" + "\n".join(f"- {source}" for source in rule.sources),
    ]
    return "\n\n".join(part for part in facts if part) + "\n"


def _properties(rule: Rule) -> str:
    properties = {
        "severity": rule.severity,
        "confidence": rule.confidence,
        "strictness": BADGES[rule.persona],
        "fix": rule.fix or "none",
        "since": rule.since,
    }
    if rule.of_site:
        properties["needs"] = "[`--site`](../validator/site.md)"
    return "\n".join((_row(*properties), _row(*["---"] * len(properties)), _row(*properties.values())))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _parameters(rule: Rule) -> list[str]:
    known = registry.load_parameters(rule)
    if known is None:
        return []
    rows = [f"| `{name}` | `{value}` |" for name, value in known._asdict().items()]
    described = (type(known).__doc__ or "").strip()
    return ["## Parameters", described, "\n".join(("| name | default |", "| --- | --- |", *rows))]


def _site(rule: Rule) -> list[str]:
    """The site that the examples of a rule are compared with, for those that need one."""
    site = _case(rule, "bad").site if rule.of_site else None
    return ["## The site of these examples", _block("yaml", site.document.source.text)] if site is not None else []


def _reported(rule: Rule) -> list[str]:
    """What the linter prints about the bad example of a rule, what a fix changes, and the example."""
    case = _case(rule, "bad")
    findings = cases.lint(case, (rule,))
    parts = ["## Reported", _block("console", _printed(rule, case, findings))]
    if rule.fix:
        option = " --unsafe" if rule.fix == "unsafe" else ""
        changes = _changes(case.text, cases.fixed(case, findings))
        parts += [f"`trainyard fix{option}` changes:", _block("diff", changes)]
    return [*parts, f"`{case.source.name}`:", _block("yaml", case.text)]


def _accepted(rule: Rule) -> list[str]:
    """What is right, after the diff to it if no command makes the change. Two different files have no useful diff."""
    reported, accepted = _case(rule, "bad"), _case(rule, "good")
    changes = _changes(reported.text, accepted.text)
    parts = ["## Not reported"]
    if not changes:
        return [*parts, _block("console", _printed(rule, accepted, cases.lint(accepted, (rule,))))]
    if not rule.fix and changes.count("\n") < accepted.text.count("\n"):
        parts += ["What differs from the example above:", _block("diff", changes)]
    return [*parts, _block("yaml", accepted.text)]


def _changes(before: str, after: str) -> str:
    """The lines of a diff between two texts."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    return "\n".join(list(lines)[2:])


def _case(rule: Rule, part: str) -> Case:
    """An example without the marks of the tests, so that the lines are those of the output."""
    folder = registry.folder() / rule.module.split(".")[-2] / "cases"
    found = cases.load(folder / f"{rule.name.replace('-', '_')}.{part}.yaml")
    # The example of a kustomization names itself.
    return found._replace(path=EXAMPLE, text=found.text.replace(found.path.name, EXAMPLE.name))


def _printed(rule: Rule, case: Case, findings: Sequence[Finding]) -> str:
    versions = {name: ".".join(map(str, version)) for name, version in case.target._asdict().items() if version}
    options = [
        *([f"--select {rule.name}"] if rule.name not in NEEDS_OTHERS else []),
        *(f"--target {name}={version}" for name, version in versions.items()),
        *([f"--profile {case.profile}"] if case.profile else []),
        *([f"--site {Path(case.site.document.source.name).name}"] if case.site else []),
    ]
    report = Report(tuple(findings), (), (case.source.name,), NOTHING)
    printed = text.render(report, (rule,), Style()).replace(f"{registry.folder() / 'site' / 'cases'}/", "")
    return " ".join(["$ trainyard lint", case.source.name, *options]) + f"\n{printed}"


def _block(language: str, content: str) -> str:
    return f"```{language}\n{content.rstrip()}\n```"


def rule_index(rules: tuple[Rule, ...]) -> str:
    """All rules in tables, a family each."""
    families: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        families[rule.module.rsplit(".", 1)[0]].append(rule)
    parts = ["# Rules", f"{len(rules)} rules in {len(families)} families."]
    for module, members in families.items():
        parts.append(f"## {(importlib.import_module(module).__doc__ or '').strip().rstrip('.')}")
        rows = [
            _row(
                rule.code,
                f"[{rule.name}]({rule.name}.md)<br>{registry.page(rule).splitlines()[0]}",
                rule.severity,
                rule.persona,
                rule.fix or "",
            )
            for rule in members
        ]
        head = (_row("code", "rule", "severity", "strictness", "fix"), _row(*["---"] * 5))
        parts.append("\n".join((*head, *rows)))
    return "\n\n".join(parts) + "\n"


def profile_section(fabric: Profile) -> str:
    """A fabric profile with what it asks for."""
    rows = [
        *((one.name, "required", one.value or "any value") for one in fabric.required),
        *((one.name, "recommended", one.value or "any value") for one in fabric.recommended),
        *((one.name, "must not be set", one.why) for one in fabric.forbidden),
        *((one.name, "resource", one.why) for one in fabric.resources),
    ]
    table = "\n".join(f"| `{name}` | {kind} | {words} |" for name, kind, words in rows)
    head = f"## {fabric.name}\n\n{fabric.title}. Source: {fabric.source}."
    return f"{head}\n\n| name | | value or reason |\n| --- | --- | --- |\n{table}"


def recall_page() -> str:
    """The page on recall, with the tables that are measured now."""
    page = (Path(__file__).parent / "validator" / "recall.md").read_text(encoding="utf-8")
    results = list(measuring.measure(map(reading.load, reading.paths())))
    return markdown.replace_section(page, "table", recall.page(results))


def write(path: str, text: str) -> None:
    """Add a page to the site."""
    with mkdocs_gen_files.open(path, "w") as page:
        page.write(text)


RULES = registry.rules()
for one in RULES:
    write(f"rules/{one.name}.md", rule_page(one))
write("rules/index.md", rule_index(RULES))
INTRODUCTION = (
    "# Fabric profiles\n\n"
    "`trainyard lint --profile NAME`, or `profile: NAME` in the configuration, also judges a run by what its fabric\n"
    "needs."
)
write(
    "validator/profiles.md",
    "\n\n".join((INTRODUCTION, *(profile_section(load_profile(name)) for name in profile_names()))) + "\n",
)
write("validator/recall.md", recall_page())
for source, path in readmes.published().items():
    write(path, readmes.page(source))
write("charts/index.md", readmes.chart_index())
FROM_NPM = {
    browser_files.MERMAID: browser_files.MERMAID,
    **{name: f"playground/pyodide/{name}" for name in browser_files.PYTHON},
}
for name, path in FROM_NPM.items():
    with mkdocs_gen_files.open(path, "wb") as copied:
        copied.write((browser_files.folder() / name).read_bytes())
with mkdocs_gen_files.open("playground/trainyard.zip", "wb") as packed:
    packed.write(playground.archive())
