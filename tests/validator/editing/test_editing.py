"""An edit changes one value: other data, comments, quotes and line ends are preserved."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.validator.editing import yaml_strategies
from trainyard import editing
from trainyard.document.document import Add, Append, Edit, EmbeddedDocument, Place, Remove, Rename, SetValue, Substitute
from trainyard.document.reading import embedded, read
from trainyard.document.source import Path, Source
from trainyard.document.text import Text

COMMENT = re.compile(r"# comment \d+")
NEW = st.sampled_from(["1", "plain", "it's", "a: b", "^x,y", 1, True, None, "two\nlines\n"])
NESTED = st.sampled_from([{"k": "v"}, [{"name": "x", "value": "1"}], {"a": {"b": [1, 2]}}, [], {}])


def parsed(text: str) -> Any:
    """Return the tree of the only document of a text."""
    documents, broken = read(Source("run.yaml", text))
    assert not broken, f"{broken}\n{text}"
    return documents[0].tree if documents else None


def edited(text: str, make: Callable[[Place], Edit | list[Edit]]) -> str:
    """Return the text after edits, which `make` creates from the place of the root."""
    source = Source("run.yaml", text)
    documents, broken = read(source)
    assert not broken, f"{broken}\n{text}"
    made = make(Place(documents[0]))
    return editing.apply(source, made if isinstance(made, list) else [made])


def paths(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every path of a tree with its value."""
    yield path, tree
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in entries:
        yield from paths(value, (*path, step))


def at(tree: Any, path: Path) -> Any:
    for step in path:
        tree = tree[step]
    return tree


def commentary(text: str) -> Counter[str]:
    return Counter(COMMENT.findall(text))


# There are many layouts and each example is fast, so there are more examples than elsewhere.
thorough = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@thorough
@given(yaml_strategies.documents())
def test_the_texts_of_these_tests_hold_their_trees(document: tuple[str, Any]) -> None:
    text, tree = document
    assert parsed(text) == tree


@thorough
@given(yaml_strategies.documents(), st.data())
def test_a_scalar_gets_another_value(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    scalars = [path for path, value in paths(tree) if not isinstance(value, dict | list)]
    if not scalars:
        return
    path, new = data.draw(st.sampled_from(scalars)), data.draw(NEW)
    result = edited(text, lambda root: SetValue(root.child(*path), new))
    expected = copy.deepcopy(tree)
    at(expected, path[:-1])[path[-1]] = new
    assert parsed(result) == expected
    assert commentary(result) == commentary(text)


@thorough
@given(yaml_strategies.documents(), st.data())
def test_a_mapping_gets_a_field(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    path = data.draw(st.sampled_from([path for path, value in paths(tree) if isinstance(value, dict)]))
    value = data.draw(NEW | NESTED)
    result = edited(text, lambda root: Add(root.child(*path), "brandNew", value))
    expected = copy.deepcopy(tree)
    at(expected, path)["brandNew"] = value
    assert parsed(result) == expected
    assert commentary(result) == commentary(text)
    assert list(at(parsed(result), path))[-1] == "brandNew", "it comes last"


@thorough
@given(yaml_strategies.documents(), st.data())
def test_a_list_gets_an_item(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    lists = [path for path, value in paths(tree) if isinstance(value, list)]
    if not lists:
        return
    path, value = data.draw(st.sampled_from(lists)), data.draw(NEW | NESTED)
    result = edited(text, lambda root: Append(root.child(*path), value))
    expected = copy.deepcopy(tree)
    at(expected, path).append(value)
    assert parsed(result) == expected
    assert commentary(result) == commentary(text)


@thorough
@given(yaml_strategies.documents(), st.data())
def test_an_entry_goes_and_takes_only_its_own_comments_with_it(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    path = data.draw(st.sampled_from([path for path, _ in paths(tree) if path]))
    result = edited(text, lambda root: Remove(root.child(*path)))
    expected = copy.deepcopy(tree)
    del at(expected, path[:-1])[path[-1]]
    assert parsed(result) == expected
    kept = [line for line in result.splitlines() if line in text.splitlines()]
    event(f"{len(result.splitlines()) - len(kept)} lines are new")
    assert len(result.splitlines()) - len(kept) <= 1, "at most the line in which the rest joins"


@thorough
@given(yaml_strategies.documents(), st.data())
def test_several_entries_go_together(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    parents = [path for path, value in paths(tree) if isinstance(value, dict | list) and value]
    parent = data.draw(st.sampled_from(parents))
    known = at(tree, parent)
    steps = list(known) if isinstance(known, dict) else list(range(len(known)))
    going = data.draw(st.sets(st.sampled_from(steps), min_size=1))
    result = edited(text, lambda root: [Remove(root.child(*parent, step)) for step in going])
    expected = copy.deepcopy(tree)
    for step in sorted(going, reverse=True, key=steps.index):
        del at(expected, parent)[step]
    assert parsed(result) == expected


@thorough
@given(yaml_strategies.documents(), st.data())
def test_a_key_gets_another_name(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    path = data.draw(st.sampled_from([path for path, _ in paths(tree) if path and isinstance(path[-1], str)]))
    result = edited(text, lambda root: Rename(root.child(*path), "brand new"))
    names = ["brand new" if name == path[-1] else name for name in at(tree, path[:-1])]
    assert list(at(parsed(result), path[:-1])) == names, "it stays where it was"
    assert at(parsed(result), (*path[:-1], "brand new")) == at(tree, path)
    assert commentary(result) == commentary(text)


@thorough
@given(yaml_strategies.documents(), st.data())
def test_an_edit_touches_one_stretch_of_the_text(document: tuple[str, Any], data: st.DataObject) -> None:
    text, tree = document
    path = data.draw(st.sampled_from([path for path, value in paths(tree) if isinstance(value, str | int)] or [()]))
    result = edited(text, lambda root: SetValue(root.child(*path), "new")) if path else text
    same_before = next((n for n, (a, b) in enumerate(zip(text, result, strict=False)) if a != b), len(result))
    rest = text[same_before:]
    assert any(result.endswith(rest[n:]) for n in range(len(rest) + 1))
    assert result.count("\r\n") == text.count("\r\n") or "\n" in str(at(tree, path))


CASES: dict[str, tuple[str, Callable[[Place], Edit | list[Edit]], str]] = {
    "the quotes stay": (
        "a: 'true'  # why\n", lambda root: SetValue(root.child("a"), "1"), "a: '1'  # why\n"),
    "a word that is no string gets quotes": (
        "a: true\n", lambda root: SetValue(root.child("a"), "1"), 'a: "1"\n'),
    "double quotes stay": (
        'a: "x"\n', lambda root: SetValue(root.child("a"), "ü/v"), 'a: "ü/v"\n'),
    "numbers in place of quotes have none": (
        "a: 'x'\nb: \"y\"\n", lambda root: [SetValue(root.child("a"), 1), SetValue(root.child("b"), 2)],
        "a: 1\nb: 2\n"),
    "a value where there is nothing yet": (
        "a:  # why\nb: 1\n", lambda root: SetValue(root.child("a"), "v"), "a: v  # why\nb: 1\n"),
    "an item has no name to change": (
        "a: [1]\n", lambda root: Rename(root.child("a", 0), "b"), "a: [1]\n"),
    "an anchored key keeps its name": (
        "&x a: 1\n", lambda root: Rename(root.child("a"), "b"), "&x a: 1\n"),
    "a word at the start of the text": (
        "train # why\n", lambda root: Substitute(root, "tr", "ch"), "chain # why\n"),
    "a word that is not in its line of a script": (
        "a: |\n  train\n  chain\n", lambda root: Substitute(root.child("a")._replace(line=1), "ch", "tr"),
        "a: |\n  train\n  chain\n"),
    "a script stays one, with its indentation": (
        "a: |\n    x\n    y\nb: 1\n", lambda root: SetValue(root.child("a"), "x\n\nz\n"),
        "a: |\n    x\n\n    z\nb: 1\n"),
    "a script without a last line end": (
        "a: |  # why\n  x\n  y\nb: 1\n", lambda root: SetValue(root.child("a"), "x\nz"),
        "a: |-  # why\n  x\n  z\nb: 1\n"),
    "a script at the end of a text without a line end gets one": (
        "a: |\n  x", lambda root: SetValue(root.child("a"), "x\nz\n"), "a: |\n  x\n  z\n"),
    "a script at the end of a text stays without a line end": (
        "a: |-\n  x", lambda root: SetValue(root.child("a"), "x\nz"), "a: |-\n  x\n  z"),
    "a script that becomes a word": (
        "a: |  # why\n  x\n  y\nb: 1\n", lambda root: SetValue(root.child("a"), "z"), "a: z  # why\nb: 1\n"),
    "a folded text that becomes lines": (
        "a: >-\n  x\n  y\nb: 1\n", lambda root: SetValue(root.child("a"), "x\nz\n"), "a: |\n  x\n  z\nb: 1\n"),
    "an empty script that gets lines": (
        "  a: |\n  b: 1\n", lambda root: SetValue(root.child("a"), "x\nz\n"), "a: |\n  x\n  z\nb: 1\n"),
    "an anchor stays": (
        "a: &on 'yes'\n", lambda root: SetValue(root.child("a"), "1"), "a: &on '1'\n"),
    "an anchored scalar with an alias is left alone": (
        "a: &on yes\nb: *on\n", lambda root: SetValue(root.child("a"), "1"), "a: &on yes\nb: *on\n"),
    "an alias is left alone": (
        "a: &on yes\nb: *on\n", lambda root: SetValue(root.child("b"), "1"), "a: &on yes\nb: *on\n"),
    "what a merge key brings is left alone": (
        "a: &a {x: 1}\nb:\n  <<: *a\n", lambda root: SetValue(root.child("b", "x"), 2), "a: &a {x: 1}\nb:\n  <<: *a\n"),
    "an anchored list is edited for all": (
        "a: &e\n  - x: 1\nb: *e\n", lambda root: SetValue(root.child("a", 0, "x"), 2), "a: &e\n  - x: 2\nb: *e\n"),
    "a field behind an alias": (
        "a: &e [1]\nb:\n  c: *e  # c\nd: 1\n",
        lambda root: Add(root.child("b"), "k", "v"),
        "a: &e [1]\nb:\n  c: *e  # c\n  k: v\nd: 1\n"),
    "an item behind an alias": (
        "a: &e x\nb:\n- *e\n# end\n", lambda root: Append(root.child("b"), "z"), "a: &e x\nb:\n- *e\n- z\n# end\n"),
    "a field of an anchored mapping": (
        "a: &e\n  x: 1\nb: 1\n", lambda root: Add(root.child("a"), "k", 2), "a: &e\n  x: 1\n  k: 2\nb: 1\n"),
    "missing mappings come with the field": (
        "a:\n  b: 1\n",
        lambda root: Add(root.child("a", "securityContext", "capabilities"), "add", ["IPC_LOCK"]),
        "a:\n  b: 1\n  securityContext:\n    capabilities:\n      add:\n        - IPC_LOCK\n"),
    "a field where there is nothing yet": (
        "a:  # later\nb: 1\n", lambda root: Add(root.child("a"), "k", "v"), "a:  # later\n  k: v\nb: 1\n"),
    "a field where there is an explicit nothing": (
        "a: ~\n", lambda root: Add(root.child("a"), "k", "v"), "a: {k: v}\n"),
    "the first item of a list that is not there": (
        "a: 1\n", lambda root: Append(root.child("env"), {"name": "X", "value": "1"}),
        'a: 1\nenv:\n  - name: X\n    value: "1"\n'),
    "missing mappings come with the first item": (
        "a:\n  x: 1\n", lambda root: Append(root.child("a", "b", "c"), "v"), "a:\n  x: 1\n  b:\n    c:\n      - v\n"),
    "a field of an empty value in braces": (
        "x: {a: , b: 1}\n", lambda root: Add(root.child("x", "a"), "k", "v"), "x: {a: {k: v} , b: 1}\n"),
    "a field of an empty item": (
        "-\n- 1\n", lambda root: Add(root.child(0), "k", "v"), "- {k: v}\n- 1\n"),
    "an item behind one that shares its line": (
        "a: [a,\n  b, c]\n", lambda root: Append(root.child("a"), "d"), "a: [a,\n  b, c, d]\n"),
    "an item behind one on its own line": (
        "a: [\n  b,\n  c\n]\n", lambda root: Append(root.child("a"), "d"), "a: [\n  b,\n  c,\n  d\n]\n"),
    "the first item of a list in brackets": (
        "a: [x, yy]\n", lambda root: SetValue(root.child("a", 0), "v"), "a: [v, yy]\n"),
    "the second item of a list in brackets with a blank before the comma": (
        "a: [x , yy]\n", lambda root: SetValue(root.child("a", 1), "v"), "a: [x , v]\n"),
    "the last field in braces goes with the comma before it": (
        "{a, b: 1}\n", lambda root: Remove(root.child("b")), "{a}\n"),
    "a field behind a key without a value": (
        "b: 1\n? a\n\n# why\n", lambda root: Add(root, "k", "v"), "b: 1\n? a\nk: v\n\n# why\n"),
    "an empty text is no empty value": (
        "a: ''\n", lambda root: Add(root.child("a"), "k", "v"), "a: ''\n"),
    "a document that is one scalar": (
        "5\n", lambda root: SetValue(root, "word"), "word\n"),
    "no new line at the end stays none": (
        "a:\n  b: 1", lambda root: Add(root.child("a"), "k", "v"), "a:\n  b: 1\n  k: v"),
    "carriage returns are kept and used": (
        "a:\r\n  b: 1\r\nc: 2\r\n", lambda root: Add(root.child("a"), "k", {"l": 1}),
        "a:\r\n  b: 1\r\n  k:\r\n    l: 1\r\nc: 2\r\n"),
    "JSON stays JSON": (
        '{\n  "a": 1\n}\n', lambda root: Add(root, "stage", "3 or so"), '{\n  "a": 1,\n  "stage": "3 or so"\n}\n'),
    "the first of a list's fields goes": (
        "- name: x\n  value: y  # why\n", lambda root: Remove(root.child(0, "name")), "- value: y  # why\n"),
    "a comment between the fields stays": (
        "- name: x\n  # why\n  value: y\n", lambda root: Remove(root.child(0, "name")), "-\n  # why\n  value: y\n"),
    "the last item leaves an empty list": (
        "env:\n  - name: x\n    value: y\nb: 1\n", lambda root: Remove(root.child("env", 0)), "env: []\nb: 1\n"),
    "the last field leaves an empty mapping": (
        "a: # why\n  b: 1\nc: 2\n", lambda root: Remove(root.child("a", "b")), "a: {} # why\nc: 2\n"),
    "the last field of a document leaves an empty mapping": (
        "# why\na: 1\n", lambda root: Remove(root.child("a")), "# why\n{}\n"),
    "what an alias brings does not go": (
        "a: &x {b: 1}\nc: *x\n", lambda root: Remove(root.child("c", "b")), "a: &x {b: 1}\nc: *x\n"),
    "a field of a mapping that is not there does not go": (
        "a: {b: 1}\n", lambda root: Remove(root.child("c", "b")), "a: {b: 1}\n"),
    "the first two of an item's fields go": (
        "- a: 1\n  b: 2\n  c: 3\n", lambda root: [Remove(root.child(0, "a")), Remove(root.child(0, "b"))], "- c: 3\n"),
    "every second item goes": (
        "a: [1, 2, 3, 4]\n", lambda root: [Remove(root.child("a", 1)), Remove(root.child("a", 3))], "a: [1, 3]\n"),
    "the last line goes, and the one before keeps its end": (
        "a: 1\nb: 2", lambda root: Remove(root.child("b")), "a: 1\n"),
    "a script goes with all its lines": (
        "a: |\n  x\n\n  y\n\nb: 1\n", lambda root: Remove(root.child("a")), "\nb: 1\n"),
    "a line of a script": (
        "a:\n- |\n  export A=yes\n  export B=yes # b\n",
        lambda root: Substitute(root.child("a", 0).below(1), "=yes", "=1"),
        "a:\n- |\n  export A=yes\n  export B=1 # b\n"),
    "a word of a folded script": (
        "a: >-\n  mpirun -x A=yes\n  train\n", lambda root: Substitute(root.child("a"), "A=yes", "A=1"),
        "a: >-\n  mpirun -x A=1\n  train\n"),
    "the first of the same words in a script, wherever it is": (
        "a: |\n  x=yes\n  y=yes\n", lambda root: Substitute(root.child("a"), "yes", "1"), "a: |\n  x=1\n  y=yes\n"),
    "the first of the same words in a line of a script": (
        "a: |\n  x=yes\n  y=yes z=yes\n", lambda root: Substitute(root.child("a").below(1), "yes", "1"),
        "a: |\n  x=yes\n  y=1 z=yes\n"),
    "quotes that would end the text are not written": (
        "a: 'x=yes'\n", lambda root: Substitute(root.child("a"), "yes", "it's"), "a: 'x=yes'\n"),
    "of a repeated key the last one counts": (
        "a: 1\na: 2\n", lambda root: SetValue(root.child("a"), 3), "a: 1\na: 3\n"),
    "of two edits of one value the first is made": (
        "a: 1\n", lambda root: [SetValue(root.child("a"), 2), SetValue(root.child("a"), 3)], "a: 2\n"),
    "the same edit twice is made once": (
        "a: [1]\n", lambda root: [Append(root.child("a"), 2), Append(root.child("a"), 2)], "a: [1, 2]\n"),
    "text of several lines is a block": (
        "a: 1\n", lambda root: Add(root, "s", "x\n\ny\n"), "a: 1\ns: |\n  x\n\n  y\n"),
    "text of several lines without a last end": (
        "a: 1\n", lambda root: Add(root, "s", "x\ny"), "a: 1\ns: |-\n  x\n  y\n"),
    "text that starts with an empty line is quoted": (
        "a: 1\n", lambda root: Add(root, "s", "\nx"), 'a: 1\ns: "\\nx"\n'),
    "text with a space at the end of a line is quoted": (
        "a: 1\n", lambda root: Add(root, "s", "x \ny"), 'a: 1\ns: "x \\ny"\n'),
    "a field of an empty mapping with a space": (
        "a: { }\n", lambda root: Add(root.child("a"), "k", "v"), "a: {k: v}\n"),
    "a field of an empty mapping with a comment": (
        "a: {  # why\n}\n", lambda root: Add(root.child("a"), "k", "v"), "a: {k: v  # why\n}\n"),
    "a renamed mapping and a field in it": (
        "hostPath:\n  path: /x\n",
        lambda root: [Rename(root.child("hostPath"), "emptyDir"), Rename(root.child("hostPath", "path"), "medium"),
                      SetValue(root.child("hostPath", "path"), "Memory")],
        "emptyDir:\n  medium: Memory\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_layouts(name: str) -> None:
    text, make, expected = CASES[name]
    assert edited(dedent(text), make) == expected


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a: 1\n  # why\nb: 2\n", "a: 1\nb: 2\n"),
        ("a: 1  # why\nb: 2\n", "a: 1\nb: 2\n"),
        ("a: 1\n# why", "a: 1\n"),
        ("# why\na: 1", "a: 1"),
    ],
)
def test_a_comment_goes_with_its_line_if_nothing_else_is_on_it(text: str, after: str) -> None:
    source = Source("run.yaml", text)
    number = next(number for number, line in enumerate(text.split("\n")) if "#" in line)
    line = text.split("\n")[number]
    assert editing.apply(source, [Remove(Text(source).span(number, line.index("#"), len(line)))]) == after


def test_a_text_without_a_range_is_not_removed() -> None:
    source = Source("run.yaml", "a: 1  # why\n")
    assert editing.apply(source, [Remove(Place(Text(source)))]) == source.text
    assert editing.apply(source, [SetValue(Text(source).span(0, 6, 11), 2)]) == source.text


def test_only_the_document_meant_is_edited() -> None:
    source = Source("run.yaml", "a: 1  # one\n---\na: 1\n---\na: 1\n")
    documents, _ = read(source)
    assert editing.apply(source, [SetValue(Place(documents[1], ("a",)), 2)]) == "a: 1  # one\n---\na: 2\n---\na: 1\n"


def test_json_in_a_config_map_is_edited_in_its_lines() -> None:
    text = 'data:\n  ds.json: |\n    {\n      "a": 1,\n      "b": {}\n    }\n  other: x\n'
    source = Source("map.yaml", text)
    host = Place(read(source)[0][0], ("data", "ds.json"))
    inner = embedded(host, host.document.tree["data"]["ds.json"])
    assert isinstance(inner, EmbeddedDocument)
    result = editing.apply(source, [SetValue(Place(inner, ("a",)), 2), Add(Place(inner, ("b",)), "stage", 3)])
    assert result == text.replace('"a": 1', '"a": 2').replace("{}", '{"stage": 3}')


@pytest.mark.parametrize("header", ["|", "|-", "|+", "|2"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\nb: 1\n"])
def test_json_on_one_line_of_a_script_stays_there(header: str, end: str) -> None:
    text = f'config: {header}\n  {{"mtu": 1500}}{end}'
    source = Source("nad.yaml", text)
    host = Place(read(source)[0][0], ("config",))
    inner = embedded(host, host.document.tree["config"])
    assert isinstance(inner, EmbeddedDocument)
    assert editing.apply(source, [SetValue(Place(inner, ("mtu",)), 9000)]) == text.replace("1500", "9000")


def test_json_in_a_folded_text_is_written_in_quotes() -> None:
    source = Source("nad.yaml", 'config: >-\n  {"mtu":\n  1500}\n')
    host = Place(read(source)[0][0], ("config",))
    inner = embedded(host, host.document.tree["config"])
    assert isinstance(inner, EmbeddedDocument)
    after = editing.apply(source, [SetValue(Place(inner, ("mtu",)), 9000)])
    assert after == 'config: "{\\"mtu\\": 9000}"\n'


def test_json_in_quotes_is_edited_too() -> None:
    source = Source("nad.yaml", """config: '{"mtu": 1500, "name": "it''s"}'\n""")
    host = Place(read(source)[0][0], ("config",))
    inner = embedded(host, host.document.tree["config"])
    assert isinstance(inner, EmbeddedDocument)
    assert editing.apply(source, [SetValue(Place(inner, ("mtu",)), 9000)]) == source.text.replace("1500", "9000")


def test_an_edit_that_embedded_text_cannot_take_leaves_the_file_alone() -> None:
    source = Source("map.yaml", "data:\n  job.yaml: |\n    a: &x 1\n    b: *x\n    kind: Pod\n")
    host = Place(read(source)[0][0], ("data", "job.yaml"))
    inner = embedded(host, host.document.tree["data"]["job.yaml"])
    assert isinstance(inner, EmbeddedDocument)
    assert editing.apply(source, [SetValue(Place(inner, ("b",)), 2)]) == source.text


def test_a_draft_makes_all_edits_of_a_group_or_none() -> None:
    source = Source("run.yaml", "a: &x 1\nb: *x\nc: 1\n")
    root = Place(read(source)[0][0])
    draft = editing.Draft(source)
    assert not draft.make([SetValue(root.child("c"), 2), SetValue(root.child("b"), 2)])
    assert draft.text == source.text
    assert draft.make([SetValue(root.child("c"), 2)])
    assert draft.text == "a: &x 1\nb: *x\nc: 2\n"
