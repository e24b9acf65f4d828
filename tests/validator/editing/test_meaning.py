"""A new text is only taken if it means the old data with the edits made, whatever wrote the text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainyard.document.document import Add, Append, Edit, Place, Remove, Rename, SetValue, Substitute
from trainyard.document.reading import read
from trainyard.document.source import Source
from trainyard.editing.meaning import has_meaning

BEFORE = "a: 1\nb: [x, 2]\nc: {d: e}\n---\nkind: Pod\n"


def means(before: str, make: Callable[[Place], Edit], after: str) -> bool:
    """Returns true if the text after is the one before with an edit of its first document."""
    source = Source("run.yaml", before)
    documents, _ = read(source)
    return has_meaning(source, [make(Place(documents[0]))], after)


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace("a: 1", "a: 5"),
        "# why\na:   5  # five\nb:\n- x\n- 2\nc:\n  d: 'e'\n---\nkind: Pod\n",
        BEFORE.replace("a: 1\n", "").replace("---", "a: 5\n---"),
    ],
    ids=["in place", "another layout", "another order"],
)
def test_the_old_data_with_the_edit_made_pass_in_any_layout(after: str) -> None:
    assert means(BEFORE, lambda root: SetValue(root.child("a"), 5), after)


@pytest.mark.parametrize(
    "change",
    [
        ("a: 5", "a: 1"),
        ("a: 5", "a: '5'"),
        ("a: 5", "a: 5.0"),
        ("a: 5", "a: [5]"),
        ("x, 2", "x"),
        ("x, 2", "x, 2, 2"),
        ("x, 2", "x, 3"),
        ("x, 2", "x, true"),
        ("[x, 2]", "{x: 2}"),
        ("[x, 2]", "x"),
        ("{d: e}", "{}"),
        ("{d: e}", "{d: e, f: g}"),
        ("{d: e}", "{f: e}"),
        ("{d: e}", "[d]"),
        ("{d: e}", "{d: f}"),
        ("kind: Pod\n", "kind: Job\n"),
        ("---\nkind: Pod\n", ""),
        ("kind: Pod\n", "kind: Pod\n---\nkind: Pod\n"),
        ("kind: Pod\n", "kind: Pod\n---\nkind: [Pod\n"),
    ],
    ids=" to ".join,
)
def test_a_text_with_any_other_change_is_refused(change: tuple[str, str]) -> None:
    after = BEFORE.replace("a: 1", "a: 5")
    assert change[0] in after
    assert not means(BEFORE, lambda root: SetValue(root.child("a"), 5), after.replace(*change))


@pytest.mark.parametrize(
    "make",
    [
        lambda root: SetValue(root.child("z"), 1),
        lambda root: SetValue(root.child("b", 2), 1),
        lambda root: SetValue(root.child("b", "x"), 1),
        lambda root: SetValue(root.child("a", "x"), 1),
        lambda root: Remove(root.child("z")),
        lambda root: Rename(root.child("z"), "y"),
        lambda root: Rename(root.child("b", 0), "y"),
        lambda root: Add(root.child("b"), "k", "v"),
        lambda root: Append(root.child("a"), "v"),
        lambda root: Append(root.child("c"), "v"),
        lambda root: Substitute(root.child("a"), "1", "2"),
    ],
)
def test_no_text_means_an_edit_that_the_data_cannot_take(make: Callable[[Place], Edit]) -> None:
    assert not means(BEFORE, make, BEFORE)


def test_a_document_that_cannot_be_read_stays_one() -> None:
    before = "a: 1\n---\nb: [\n"
    assert means(before, lambda root: SetValue(root.child("a"), 5), before.replace("a: 1", "a: 5"))


@pytest.mark.parametrize("rest", ["", "---\n", "---\nb: []\n"])
def test_a_document_that_cannot_be_read_may_neither_go_nor_be_mended(rest: str) -> None:
    before = "a: 1\n---\nb: [\n"
    assert not means(before, lambda root: SetValue(root.child("a"), 5), f"a: 5\n{rest}")
