"""YAML is read as Kubernetes reads it, within limits of depth and size that hold for aliases and merge keys too."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from gotemplate import construct, yaml_reader
from gotemplate.yaml_reader import BrokenError, load_document, load_documents, too_deep

LISTS = "[" * 100 + "]" * 100


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\n", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("a: {<<: [{b: 1}, {b: 2, c: 3}]}\n", {"a": {"b": 1, "c": 3}}),
        ("a: {c: 1, <<: {b: {c: [2]}}}\n", {"a": {"c": 1, "b": {"c": [2]}}}),
        ("a: {'<<': {b: 1}}\n", {"a": {"<<": {"b": 1}}}),
        ("a: &x [1]\nb: *x\nc: [*x, *x]\n", {"a": [1], "b": [1], "c": [[1], [1]]}),
        ("a: &x 07\nb: *x\n", {"a": 7, "b": 7}),
        ("a: '07'\nb: !!str 07\nc: |\n  7\n", {"a": "07", "b": "07", "c": "7\n"}),
        ("", None),
        ("---\n---\na: 1\n---\n", {"a": 1}),
    ],
)
def test_a_document_has_the_data_of_its_aliases_and_merge_keys(text: str, tree: Any) -> None:
    assert load_document(text) == tree


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("a: 1\nb: {<<: [1]}\n", "a merge key `<<` needs a mapping, or a list of mappings", 1),
        ("a: {<<: text}\n", "a merge key `<<` needs a mapping, or a list of mappings", 1),
        ("a: &x [1, *x]\n", "an alias is within its own anchor", 1),
        ("? [a]\n: 1\n", "a mapping key is a list or a mapping; Kubernetes keys are strings", 1),
        ("a: 1\nb: *y\n", "found undefined alias", 2),
        ("a: 1\nb: [\n", "did not find expected node content", 3),
        ("~: 1\n", "a mapping key is null; write a string, in quotes", 1),
        (
            "9223372036854775808: 1\n",
            "the mapping key 9223372036854775808 is too large a number; write it in quotes",
            1,
        ),
        ("a: .inf\n", ".inf is not a value of Kubernetes, because JSON has none for it; write a number or a text", 1),
        ("a: !!int x\n", "`x` does not have the type of its tag, !!int", 1),
        ("a: !!int true\n", "`true` does not have the type of its tag, !!int", 1),
        (f"a: !!bool {'1' * 41}\n", f"`{'1' * 40}` does not have the type of its tag, !!bool", 1),
        ("a: !!binary '%'\n", "a value with the tag !!binary is not base64", 1),
        ("a: 1\nb: \x00", "control characters are not allowed", 1),
    ],
)
def test_a_document_that_kubernetes_refuses_is_refused(text: str, message: str, line: int) -> None:
    with pytest.raises(BrokenError, match=message) as caught:
        load_documents(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (f"{'[' * 201}{']' * 201}", 200),
        (f"a: &x {LISTS}\nb: {'[' * 99}*x{']' * 99}", 199),
        (f"a: &x {LISTS}\nb: {'[' * 100}*x{']' * 100}", 200),
        (f"a: &x {LISTS}\nb: &y {'[' * 50}*x{']' * 50}\nc: {'[' * 50}*y{']' * 50}", 200),
        (f"a: {{<<: {{b: {'[' * 198}{']' * 198}}}}}", 200),
    ],
    ids=["in brackets", "an alias", "an alias at the limit", "an alias of an alias", "a merge key"],
)
def test_a_document_may_be_nested_200_levels_deep(text: str, depth: int) -> None:
    assert load_document(text) is not None
    deeper = text.replace("[", "[" * (201 - depth) + "[", 1).replace("]", "]" * (201 - depth) + "]", 1)
    with pytest.raises(BrokenError, match="it is nested more than 200 levels deep"):
        load_document(deeper)


def test_documents_before_an_anchor_that_is_set_again_are_read_once() -> None:
    text = "a: 1\n---\nb: 2\n---\nc: &x 1\nd: &x 2\ne: *x\n---\nf: 3\n"
    assert [tree for tree, _ in load_documents(text)] == [{"a": 1}, {"b": 2}, {"c": 1, "d": 2, "e": 2}, {"f": 3}]


def test_brackets_in_texts_of_many_documents_are_not_nested() -> None:
    text = "---\na: '['\n" * 1500
    assert len(load_documents(text)) == 1500
    assert too_deep(text.replace("\n", "\r\n")) is None
    # These begin no document, so the brackets are in one.
    for line in ("---x", " ---", "---\u00a0", "--"):
        assert too_deep(f"[1,\n{line},\n" * 1001) == 2 * 200 - 1


@pytest.mark.parametrize(
    "text",
    [
        f"a: '{'[' * 1500}'\n",
        'a: "' + "{" * 1500 + '"\n',
        f"a: b{'[' * 1500}\n",
        f"a: 1 # {'[' * 1500}\n",
        "a: 1\n# [{\n" + "# [{\n" * 1000,
        f"a: |\n  {'[' * 1500}\n",
        f"a: >-\n  {'{' * 1500}\n",
        f"a: |\n  {'- ' * 300}\n",
        f"a: 'x\n  {'- ' * 300}'\n",
        "a: [" + "'[', " * 1500 + "]\n",
        f"a: 'it''s {'[' * 1500}'\n",
    ],
    ids=lambda text: text[:8],
)
def test_brackets_and_dashes_in_texts_and_comments_are_no_levels(text: str) -> None:
    assert too_deep(text) is None
    assert load_document(text)["a"] is not None
    # Nor do they hide levels.
    assert too_deep(f"{text}b: {'[' * 1001}") == text.count("\n") + 1
    assert too_deep(f"{text}---\nb: {'[' * 1001}\n") == text.count("\n") + 2


@pytest.mark.parametrize("before", ["a: *x\n", "a: }\n", "a: !e!x 1\n", "a: '\n", "\x01\n", "\ud800"])
def test_levels_after_an_error_are_counted_by_their_brackets(before: str) -> None:
    assert too_deep(f"{before}b: {'[' * 1001}") == before.count("\n") + 1


def test_many_brackets_or_dashes_are_refused_at_their_line() -> None:
    assert too_deep("a: 1\nb: " + "[" * 1000) is None
    assert too_deep("a: 1\nb: " + "[" * 1001) == 2
    assert too_deep("a: 1\nb: " + "{" * 600 + "[" * 401) == 2
    assert too_deep("a: 1\n" + "]" * 5 + "[" * 1000 + "\n[") == 3
    assert too_deep("[]\n" * 1500) is None
    assert too_deep("a: 1\nb: " + "[" * 600 + "[]" * 600 + "[" * 400) is None
    assert too_deep("a: 1\nb: " + "[" * 600 + "[]" * 600 + "[" * 401) == 2
    assert too_deep("a: " + "[" * 1000 + "]" * 1000 + "\nb: []\n") is None
    assert too_deep("a: 1\nb:\n" + "- " * 199) is None
    assert too_deep("a: 1\nb:\n" + "- " * 200) == 3
    assert too_deep("--- " + "- " * 200) == 1
    assert too_deep("a: 1\n" + "? " * 200) == 2


@pytest.mark.parametrize("limit", [9, 10])
def test_aliases_and_merge_keys_count_with_all_that_they_stand_for(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(construct, "MAX_EXPANDED", limit)
    texts = (
        # 10 nodes: a list of 2 lists of 4.
        "a: &x [[1, 2, 3, 4], [5, 6, 7, 8]]\nb: *x\n",
        "a: &x [1, 2, 3, 4, 5]\nb: [*x, *x]\n",
        "a: &x {k: 1, l: 2, m: 3, n: 4, o: 5}\nb: {<<: *x}\n",
    )
    for text in texts:
        if limit == 10:
            load_document(text)
        else:
            with pytest.raises(BrokenError, match="expand to more data than can be read"):
                load_document(text)
    assert len(load_document(json.dumps(list(range(50))))) == 50, "nodes that are written out do not count"


def test_aliases_may_stand_for_400_000_nodes() -> None:
    text = f"a: &x {list(range(400))}\nb: [{', '.join(['*x'] * 1000)}]\n"
    assert load_document(text)["b"][999][399] == 399
    with pytest.raises(BrokenError, match="expand to more data than can be read"):
        load_documents(text + "c: &y [1]\nd: *y\n")


def test_the_nodes_of_a_document_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_reader, "_MAX_NODES", 10)
    assert len(load_documents("[1, 2, 3, 4, 5, 6, 7, 8, 9]\n---\n" * 3)) == 3
    with pytest.raises(BrokenError, match="it has more than 10 nodes"):
        load_documents("[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n")


# A list, an alias, an anchor that is set again, and a document without one.
WITHOUT_LIBYAML = """
import yaml
for name in [name for name in vars(yaml) if name.startswith("C") and name.endswith(("Loader", "Dumper"))]:
    delattr(yaml, name)
from gotemplate.yaml_reader import load_documents
print([data for data, _ in load_documents("a: &x [1, no]\\nb: *x\\nc: &x 2\\nd: *x\\n---\\ne: on\\n")])
"""


def test_a_pyyaml_without_libyaml_reads_the_same() -> None:
    finished = subprocess.run([sys.executable, "-c", WITHOUT_LIBYAML], check=False, capture_output=True, text=True)
    assert finished.stdout == "[{'a': [1, False], 'b': [1, False], 'c': 2, 'd': 2}, {'e': True}]\n", finished.stderr
