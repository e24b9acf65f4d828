"""Writes the pages that document themselves: one for each rule, their index, and the fabric profiles."""

from __future__ import annotations

import importlib
from collections import defaultdict

import mkdocs_gen_files

from trainyard.engine import registry
from trainyard.engine.rule import Rule
from trainyard.facts.profiles import Profile, load_profile, profile_names

BADGES = {
    "regular": "on by default",
    "pedantic": "on with `--pedantic`",
    "auditor": "on with `--auditor`",
}


def rule_page(rule: Rule) -> str:
    """A rule's page: its docstring, its facts and its cases."""
    title, _, body = registry.page(rule).partition("\n")
    facts = [
        f"# {rule.name} ({rule.code})",
        f"**{title}**",
        f"{rule.severity}, confidence {rule.confidence}, {BADGES[rule.persona]}, since {rule.since}"
        + (f", {rule.fix} fix" if rule.fix else "")
        + (", needs [`--site`](../validator/site.md)" if rule.of_site else ""),
        body.strip(),
        *_parameters(rule),
        *_site(rule),
        *_example(rule, "bad", "Reported"),
        *_example(rule, "good", "Not reported"),
        "## Sources\n\n" + "\n".join(f"- {source}" for source in rule.sources),
    ]
    return "\n\n".join(part for part in facts if part) + "\n"


def _parameters(rule: Rule) -> list[str]:
    if rule.parameters is None:
        return []
    rows = [f"| `{name}` | `{value}` |" for name, value in rule.parameters._asdict().items()]
    described = (type(rule.parameters).__doc__ or "").strip()
    return ["## Parameters", described, "\n".join(("| name | default |", "| --- | --- |", *rows))]


def _site(rule: Rule) -> list[str]:
    """The site that the examples of a rule are compared with, for those that need one."""
    if not rule.of_site:
        return []
    text = (registry.folder() / "site" / "cases" / "onprem.site.yaml").read_text(encoding="utf-8")
    return ["## The site of these examples", f"```yaml\n{text.rstrip()}\n```"]


def _example(rule: Rule, part: str, title: str) -> list[str]:
    path = registry.folder() / rule.module.split(".")[-2] / "cases" / f"{rule.name.replace('-', '_')}.{part}.yaml"
    if not path.exists():
        return []
    return [f"## {title}", f"```yaml\n{path.read_text(encoding='utf-8').rstrip()}\n```"]


def rule_index(rules: tuple[Rule, ...]) -> str:
    """All rules in tables, a family each."""
    families: dict[str, list[Rule]] = defaultdict(list)
    for rule in rules:
        families[rule.module.rsplit(".", 1)[0]].append(rule)
    parts = ["# Rules", f"{len(rules)} rules in {len(families)} families."]
    for module, members in families.items():
        parts.append(f"## {(importlib.import_module(module).__doc__ or '').strip().rstrip('.')}")
        rows = [
            f"| [{rule.code}]({rule.name}.md) | {rule.name} | {rule.severity} | {rule.persona} | {rule.fix or ''} |"
            for rule in members
        ]
        parts.append(
            "\n".join(("| code | name | severity | strictness | fix |", "| --- | --- | --- | --- | --- |", *rows))
        )
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
