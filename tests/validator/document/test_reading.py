"""Any text is read as documents or refused with a reason: never an exception, and always in time."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gotemplate import yaml_reader
from tests.validator.linting import corruption
from trainyard.document import reading
from trainyard.document.document import Document, Place
from trainyard.document.files import File
from trainyard.document.source import BrokenText, Source
from trainyard.engine import registry
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline

LARGEST = 64 * 1024
SECONDS = 2
ENGINE = Engine(registry.rules())
JOB = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: x}\nspec:\n  x: "


def aliases(line: str, count: int = 60) -> str:
    """Return a chain of anchors, each of which refers to the previous one several times."""
    return "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} " + line.replace("*", f"*a{n - 1}") + "\n" for n in range(1, count))


EXPANDS = "its aliases and merge keys expand to more data than can be read"
DEEP = "it is nested more than 200 levels deep"
WITHIN = "an alias is within its own anchor"
CONTROL = "control characters are not allowed"
REFUSED = {
    "aliases of lists": (aliases("[*, *, *, *, *, *, *, *, *]"), EXPANDS),
    "aliases of mappings": (aliases("{a: *, b: *, c: *, d: *, e: *, f: *}"), EXPANDS),
    "a long chain of aliases": (aliases("[*]", 2_000), DEEP),
    "one wide mapping merged often": (
        "a: &a {" + ", ".join(f"k{n}: 1" for n in range(4_000)) + "}\nb: {<<: [" + ", ".join(["*a"] * 3_000) + "]}",
        EXPANDS,
    ),
    "merge keys of merge keys": (
        "a0: &a0 {x: 1}\n"
        + "".join(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 30)}], k{n}: 1}}\n" for n in range(1, 400)),
        EXPANDS,
    ),
    "an alias of its own list": (JOB + "&a [*a]", WITHIN),
    "an alias of its own mapping": (JOB + "&a {template: *a}", WITHIN),
    "a mapping merged into itself": (JOB + "&a {<<: *a}", WITHIN),
    "a merge key with a text": (JOB + "{<<: x}", "a merge key `<<` needs a mapping, or a list of mappings"),
    "open brackets": ("[" * LARGEST, DEEP),
    "closed brackets": ("[" * 20_000 + "]" * 20_000, DEEP),
    "open braces": ('{"a":' * 10_000, DEEP),
    "dashes": ("- " * 30_000, DEEP),
    "dashes after a carriage return": ("a: 1\r" + "- " * 30_000, DEEP),
    "dashes after a line break of Unicode": ("a: 1\u2028" + "- " * 30_000, DEEP),
    "dashes, questions and colons": ("- ? : " * 10_000, DEEP),
    "indentation": ("\n".join(" " * n + "a:" for n in range(340)), DEEP),
    "a list as a key": ("? [a]\n: b\n", "a mapping key is a list or a mapping; Kubernetes keys are strings"),
    "keys without text": ("?\n" * 30_000, "a mapping key is null"),
    "a NUL": ("a: \x00b\n", CONTROL),
    "half of a surrogate pair": ("a: \ud800\n", "'utf-8' codec can't encode"),
    "a tab as indentation": ("a:\n\tb: 1\n", "cannot start any token"),
    "an open quote": ("a: '" + "x" * 60_000, "unexpected end of stream"),
    "an anchor that nobody set": ("a: *b\n", "undefined alias"),
    "many broken documents": ("a: }\n---\n" * 6_000, "did not find expected node content"),
    "many directives": ("%YAML 9.9\n---\n" * 4_000, "incompatible YAML document"),
}
READ = {
    "nothing": ("", 0),
    "blank lines": ("\n" * LARGEST, 0),
    "carriage returns": ("\r" * LARGEST, 0),
    "a comment": ("#" * LARGEST, 0),
    "empty documents": ("---\n" * 16_000, 0),
    "line ends of Windows": ("a: 1\r\n---\r\nb: 2\r\n", 2),
    "a byte order mark": ("\ufeffa: 1\n---\nb: 2\n", 2),
    "an unknown tag": ("a: !!python/object:os.system {b: c}\n", 1),
    "a key again and again": ("a: 1\n" * 13_000, 1),
    "the same short list again and again": ("a: &a [1]\nb: [" + "*a, " * 15_000 + "]", 1),
    "digits": ("a: " + "9" * 60_000, 1),
    "hexadecimal digits": ("a: 0x" + "f" * 60_000, 1),
    "underscores": ("a: 1" + "_" * 60_000, 1),
    "an exponent": ("a: 1e999999999\n", 1),
    "dashes behind thousands of columns": ("a:\n" + " " * 6_000 + "- - a\n", 1),
    "an empty block of many lines": ("a: |\n" + "\n" * 60_000, 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_text_is_refused_in_time_with_the_reason(name: str) -> None:
    text, reason = REFUSED[name]
    documents, broken = read_in_time(text)
    assert documents == []
    assert reason in broken[0].message


@pytest.mark.parametrize("name", READ)
def test_unusual_text_is_read_in_time(name: str) -> None:
    text, count = READ[name]
    documents, broken = read_in_time(text)
    assert (len(documents), broken) == (count, [])


def test_a_text_that_was_cut_off_in_its_last_line_is_read_once() -> None:
    documents, broken = read_in_time("a: 1\n---\nb: 2\n---\nkey: value\nsizeLim")

    assert [document.tree for document in documents] == [{"a": 1}, {"b": 2}]
    assert len(broken) == 1


def test_a_text_that_is_broken_in_its_first_line_is_read_once() -> None:
    documents, broken = read_in_time("--- ]\na: 1\n---\nb: 2\n")

    assert [document.tree for document in documents] == [{"b": 2}]
    assert len(broken) == 1


def test_each_document_may_have_as_many_nodes_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_reader, "_MAX_NODES", 10)

    documents, broken = read_in_time("a: 1\nb: 2\nc: 3\n---\n" * 5 + "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n---\nd: 4\n")

    assert [document.tree for document in documents] == [*[{"a": 1, "b": 2, "c": 3}] * 5, {"d": 4}]
    assert [fault.line for fault in broken] == [21]


def test_numbers_with_a_leading_zero_are_octal() -> None:
    documents, _ = read_in_time("a: 07\nb: 010\nc: -07\nd: 0\n")
    assert documents[0].tree == {"a": 7, "b": 8, "c": -7, "d": 0}
    # 7.0 equals 7, but is no number of pods.
    assert {type(number) for number in documents[0].tree.values()} == {int}


def test_documents_around_a_broken_one_are_read_and_keep_their_lines() -> None:
    text = "a: 1\n---\nb: [\n---\nc: 1\nc: 2\n"
    documents, broken = read_in_time(text)
    assert [document.tree for document in documents] == [{"a": 1}, {"c": 2}]
    assert [fault.line for fault in broken] == [4]
    assert [documents[1].locate(place).line for place in documents[1].repeated] == [6]


def test_documents_around_one_with_a_control_character_are_read() -> None:
    documents, broken = read_in_time("é: 1\n---\nb: 2\n---\nc: é\x07\n---\nd: 4\n")
    assert [document.tree for document in documents] == [{"é": 1}, {"b": 2}, {"d": 4}]
    assert [(fault.line, fault.column) for fault in broken] == [(5, 5)]


def test_numbers_too_large_for_any_program_are_kept_as_text() -> None:
    documents, _ = read_in_time(f"a: {'9' * 5000}\nb: 1e999\nc: 1e9\n")
    assert documents[0].tree == {"a": "9" * 5000, "b": "1e999", "c": 1e9}


def test_an_alias_is_equal_to_a_copy() -> None:
    documents, _ = read_in_time("a: &a {x: [1], z: 2}\nb: *a\nc: {<<: *a, z: 3}\n")
    assert documents[0].tree["b"] == {"x": [1], "z": 2}
    assert documents[0].tree["c"] == {"x": [1], "z": 3}


def read_in_time(text: str) -> tuple[list[Document], list[BrokenText]]:
    """Return the result of `reading.read`, and assert that it took less than `SECONDS`."""
    started = time.process_time()
    result = reading.read(Source("text.yaml", text))
    assert time.process_time() - started < SECONDS
    return result


FRAGMENTS = (
    "a", "kind: Job\n", "- ", "  ", "\t", "\n", "\r\n", "---\n", "...\n", "%YAML 1.1\n", "? ", ": ", ":", ", ", "[",
    "]", "{", "}", "&a ", "*a ", "&b", "*b", "<<: ", "<<: *a\n", "!!str ", "!t ", "|\n", ">-\n", "|9", "'", '"', "\\",
    "\\u12", "#", " #", "@", "`", "~", "null", "0x", "1_", ".5", "e9", "=", "\x00", "\x07", "\x85", "\u2028", "\ufeff",
    "\ud800", "é", "\U0001f600",
)  # fmt: skip
# Control characters end a text at once, and the fragments have enough of them.
WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20)


@st.composite
def broken_texts(draw: st.DrawFn) -> str:
    """Draw fragments of YAML in any order, some repeated many times, within text of real files."""
    pieces = []
    for _ in range(draw(st.integers(0, 12))):
        piece = draw(st.sampled_from(FRAGMENTS) | WORDS)
        pieces.append(piece * draw(st.sampled_from((1, 1, 1, 2, 5, 300, LARGEST // 2 // max(1, len(piece))))))
    text = "".join(pieces)
    around = draw(st.just("") | corruption.texts())
    cut = draw(st.integers(0, len(around)))
    return (around[:cut] + text + around[cut:])[:LARGEST]


@settings(max_examples=250, suppress_health_check=list(HealthCheck))
@given(broken_texts())
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    documents, broken = read_in_time(text)
    lines = len(text.splitlines()) + 1
    assert all(fault.message and 1 <= fault.line <= lines and fault.column >= 1 for fault in broken)
    for document in documents:
        assert document.tree is not None
        assert document.locate(Place(document)).line <= lines


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(broken_texts())
def test_any_text_is_linted_without_an_error_and_in_time(text: str) -> None:
    started = time.process_time()
    report = pipeline.lint([pipeline.read_file(File(Source("text.yaml", text)))], ENGINE)
    assert time.process_time() - started < SECONDS
    assert all(finding.message for finding in report.findings)
