"""Values are written as YAML in the style of manifests, and every parser reads the same values again."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gotemplate.yaml_reader import load_document
from trainyard.editing.writing import block_lines, field_lines, flow_text, is_plain, is_script, item_lines

PLAIN = ("-x", "é", "a:b", "(a)", "x@y", "0x", "1a", "a=b", "+1a", ".5a", "IPC_LOCK", "a b", "nvidia.com/gpu", "64Gi")
QUOTED = (
    "", " ", "a: b", "a:", "- x", "---", "--- x", "x ", " x", "1", "1.5", "y", "no", "On", "null", "~", "a #b", "a,b",
    "2024-01-01", "12:30", "1_000", "_", "a\tb", "$HOME", "%x", "@x", "^x", "=", "(", "[a", "{a", "*a", "&a", "!a",
    "'a", '"a', "|", ">", "a\nb", "0x1F", "1e3", "a]", "a}",
)  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_that_every_parser_reads_as_text_has_no_quotes(text: str) -> None:
    assert is_plain(text)
    assert flow_text(text) == text
    for written in (f"a: {text}", f"[{text}]", f"{{a: {text}}}"):
        assert text in str(load_document(written))
        assert text in str(yaml.safe_load(written))


@pytest.mark.parametrize("text", QUOTED)
def test_any_other_text_has_quotes(text: str) -> None:
    assert not is_plain(text)
    assert load_document(f"[{flow_text(text)}]") == yaml.safe_load(f"[{flow_text(text)}]") == [text]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("é\n", '"é\\n"'),
        (("a", 1), "[a, 1]"),
        ([], "[]"),
        ({}, "{}"),
        ({"a": [1, None, "x y", {"b": "yes"}], "c": ""}, '{a: [1, null, x y, {b: "yes"}], c: ""}'),
        ({"1": "x"}, '{"1": x}'),
    ],
    ids=str,
)
def test_a_value_on_one_line(value: Any, written: str) -> None:
    assert flow_text(value) == written
    assert flow_text({"a": ["é"]}, as_json=True) == '{"a": ["é"]}'


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({"b": ["x", {"c": "l\n\nm\n"}], "d": [], "e": {}},
         ["a:", "  b:", "    - x", "    - c: |", "        l", "", "        m", "  d: []", "  e: {}"]),
        ([["b", "c"], {"d": 1, "e": "x\ny"}],
         ["a:", "  - - b", "    - c", "  - d: 1", "    e: |-", "      x", "      y"]),
        ("x\ny\n", ["a: |", "  x", "  y"]),
        ("x\ny", ["a: |-", "  x", "  y"]),
        ("x\n", ["a: |", "  x"]),
        ("x\n\n", ["a: |", "  x", ""]),
        ("\nx\n", ['a: "\\nx\\n"']),
        ("x \ny", ['a: "x \\ny"']),
        ("x\ty\nz", ['a: "x\\ty\\nz"']),
        ([], ["a: []"]),
        (7, ["a: 7"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_field_in_block_style(value: Any, lines: list[str]) -> None:
    assert field_lines("a", value) == lines
    assert item_lines({"a": value}) == [f"- {lines[0]}", *(f"  {line}" if line else "" for line in lines[1:])]
    if not str(value).endswith("\n\n"):
        assert load_document("\n".join(lines) + "\n") == {"a": value}


def test_an_empty_value_and_a_scalar_have_one_line_in_block_style() -> None:
    assert [*block_lines([]), *block_lines({}), *block_lines("x"), *block_lines(1)] == ["[]", "{}", "x", "1"]
    assert item_lines({}) == ["- {}"]


@pytest.mark.parametrize(
    ("lines", "script"),
    [
        (["a: |", "  x"], True),
        (["- |", "  x"], True),
        (["a:", "  b: |", "    x", "", "    y"], True),
        (["a: |-", "  x"], False),
        (["a: |", "  x", "b: 1"], False),
        (["a:", "  - b"], False),
        (["a: x"], False),
    ],
    ids=str,
)
def test_lines_that_end_in_a_script_need_the_end_of_the_last_one(lines: list[str], script: bool) -> None:
    assert is_script(lines) == script
