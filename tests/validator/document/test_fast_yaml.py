"""The fast YAML parser gives the same documents as the full parser, or declines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainyard.document import fast_yaml, reading
from trainyard.document.source import Source
from trainyard.engine import registry

ROOT = Path(__file__).parents[3]
FILES = sorted((*registry.folder().glob("*/cases/*.yaml"), *(ROOT / "tests/validator/rules/corpus").rglob("*.yaml")))

WORDS = [
    *("on", "off", "yes", "No", "y", "N", "true", "False", "null", "~", "Null", "on-prem", "nothing", "yesterday"),
    *("0", "1", "010", "0x1f", "0o17", "0b11", "-7", "+7", "1_000", "1e3", "1.5", ".5", "5.", "-.inf", ".nan", "12:30"),
    *("08", "500m", "64Gi", "2025-11-21", "123456789012345678901", "1.2.3", "=eth0", "^mlx5_1", "=", "<<", "a: b"),
    *(
        "'quoted'",
        '"1"',
        '"2026-01-08"',
        "'2026-01-08T09:31:52Z'",
        '"a\\nb"',
        "a b  c",
        "# no",
        "a #b",
        "x'y",
        'x"y',
        "-",
        "--flag",
        "- item",
        "[a, 1]",
        "{a: 1}",
    ),
    *("$(NAME)", "a,b", "key:", "http://x/y", "@x", "`x`", "%x", "&a b", "*a", "!!str 5", "|", ">-", "é", "\t", ""),
]


def assert_alike(text: str) -> None:
    source = Source("run.yaml", text)
    found = fast_yaml.read_plain(source)
    if found is None:
        return
    documents, broken = reading.read(source)
    assert broken == []
    assert [repr(document.tree) for document in found] == [repr(document.tree) for document in documents]
    assert not any(document.repeated for document in documents)


@pytest.mark.parametrize("family", sorted({path.parent.name for path in FILES}))
def test_both_parsers_read_files_alike(family: str) -> None:
    for path in (path for path in FILES if path.parent.name == family):
        assert_alike(path.read_text(encoding="utf-8"))


def test_the_fast_parser_reads_most_simple_manifests() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FILES if path.name.endswith(".good.yaml")]
    taken = [text for text in texts if fast_yaml.read_plain(Source("run.yaml", text)) is not None]
    # Cases of newer rules have more flow collections and blocks of text, which it declines.
    assert len(taken) > len(texts) / 5


@given(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS), st.integers(0, 4)), min_size=1, max_size=6))
@settings(max_examples=600)
def test_words_and_numbers_are_read_alike_wherever_they_stand(entries: list[tuple[str, str, int]]) -> None:
    forms = ("{0}: {1}", "key: {0}\nlist:\n  - {1}", "{0}:\n  {1}: x", "a: [{0}, {1}]", "b: {{{0}: {1}}}")
    lines = [form.format(key, value) for key, value, index in entries for form in (forms[index],)]
    for text in ("\n".join(lines) + "\n", lines[0], "top:\n" + "\n".join(f"  {line}" for line in lines[:1])):
        assert_alike(text)


@given(st.text(alphabet="ab1 0:-#'\"[]{},\n.", max_size=60))
@settings(max_examples=600)
def test_any_text_is_read_alike(text: str) -> None:
    assert_alike(text)


def test_no_group_of_a_pattern_is_possessive() -> None:
    # Python 3.11.0 to 3.11.4 misread a possessive group that can backtrack inside; Debian has 3.11.2.
    sources = (ROOT / "validator").rglob("*.py")
    lines = [line for path in sources for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line for line in lines if re.search(r"\)(?:[*+?]|\{+\d*,\d*\}+)\+", line)] == []
