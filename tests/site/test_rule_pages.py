"""A reader of the pages of rules: what a page shows is what the linter prints, and how the example is corrected."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest

from trainyard.cli.main import main
from trainyard.engine import registry
from trainyard.engine.rule import Rule

PAGES = Path(__file__).parents[2] / "build" / "site" / "rules"
# The example of this rule has hundreds of findings, so its page shows none.
WITHOUT_EXAMPLE = {"findings-cut-short"}
RULES = [rule for rule in registry.rules() if rule.name not in WITHOUT_EXAMPLE]
# The good examples of the other rules are other files than their bad ones.
FEWEST_DIFFS = 400


def blocks(rule: Rule) -> list[str]:
    """Return the blocks of code of a rule's page as a reader sees them."""
    page = (PAGES / rule.name / "index.html").read_text(encoding="utf-8")
    found = re.findall(r"<pre><span></span><code>(.*?)</code></pre>", page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]+>", "", block)) for block in found]


def diffs(rule: Rule) -> list[str]:
    return [block for block in blocks(rule) if block.startswith("@@ ")]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_command_of_a_page_prints_what_the_page_shows(
    rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(rule)
    at = next(number for number, block in enumerate(found) if block.startswith("$ trainyard lint"))
    command, _, printed = found[at].partition("\n")
    example = next(block for block in found[at + 1 :] if not block.startswith("@@ "))
    path = Path(shlex.split(command)[3])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(example, encoding="utf-8")
    if site := re.search(r"--site (\S+)", command):
        Path(site[1]).write_text(found[at - 1], encoding="utf-8")

    main(shlex.split(command)[2:])

    assert f" {rule.code} {rule.name}" in printed
    assert capsys.readouterr().out.strip() == printed.strip()
    removed = [line[1:] for diff in diffs(rule) for line in diff.splitlines() if line.startswith("-")]
    assert set(removed) <= set(example.splitlines())


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.fix], ids=lambda rule: rule.name)
def test_the_page_of_a_rule_with_a_fix_shows_what_it_changes(rule: Rule) -> None:
    assert diffs(rule)


def test_most_pages_show_how_the_example_is_corrected() -> None:
    assert sum(map(bool, map(diffs, RULES))) >= FEWEST_DIFFS


def test_the_index_has_the_sentence_of_each_rule() -> None:
    index = (PAGES / "index.html").read_text(encoding="utf-8")
    sentences = dict(re.findall(r'<a href="([a-z0-9-]+)/">\1</a><br>(.*?)</td>', index, re.DOTALL))
    assert sentences.keys() == {rule.name for rule in registry.rules()}
    assert [name for name, sentence in sentences.items() if not re.search(r"\w{2,} .*\.$", sentence, re.DOTALL)] == []
