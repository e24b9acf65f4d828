"""Recognises files that cannot be parsed and that a linter of training runs has nothing to say about.

A template of Helm, Jinja or another program becomes YAML only when it is rendered. JSON with comments belongs to an
editor or a compiler. An encrypted file is no text at all. DeepSpeed reads its configurations as Hjson, publishers mask
passwords with asterisks, and helm-unittest takes any backslash. Such a file gets a note. A damaged file that names
itself as Kubernetes, as DeepSpeed or as the values of a run stays an error: it would fail when it is used.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.document.source import lines
from trainyard.loaders.training_job.values import OWN_KEYS, TELLING_KEYS

if TYPE_CHECKING:
    from trainyard.engine.subjects import Reading

SEALED = "not checked: this is no text; it may be encrypted"
_QUOTED = re.compile(r"""(?:^|(?<=[\s:\[{,-]))(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|(?:^|\s)#(?!\{).*$""", re.MULTILINE)
_TEMPLATE = re.compile(r"\{[{%]|%\{")
# A line of YAML is never a variable alone: envsubst or a script puts other lines there.
_LINES = re.compile(r"^\$\{\w+\}[^\S\n]*$", re.MULTILINE)
# Words that sed, Python or Sphinx replaces: `%%NAME%%`, `env:NAME_OF_LINES`, `|name|`, and `{prefix}/image`, for YAML a
# mapping.
_WORDS = re.compile(
    r"[:-][^\S\n]+(?:%%\w+%%|%[\w-]+%[^\S\n]*$|\|[A-Za-z][\w-]+\|[^\S\n]*$)|^[^\S\n]*\w+:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[^\S\n]*$|:[^\S\n]+\{[A-Za-z_]\w*\}[\w./-]",
    re.MULTILINE,
)
# A word alone, in place of lines that a program writes: `SERVICE_ACCOUNT_CONFIG`.
_LINE = re.compile(r"\s*[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\s*")
# The user data of a node holds documents between the boundaries of MIME.
_MIME = re.compile(r"^(?:MIME-Version|Content-Type):[^\S\n]", re.MULTILINE)
# The indentation contains no line end. Otherwise the search reads on from every empty line, in quadratic time.
# A tokenizer has numbers for its words.
_KUBERNETES = re.compile(r"""(?:^|[{,])(?:-|[^\S\n])*["']?(?:apiVersion|kind)["']?\s*:(?!\s*\d)""", re.MULTILINE)
# Neither YAML nor JSON has these.
_CONTROLS = re.compile(r"[\0-\b\x0e-\x1f]")
_DEEPSPEED = re.compile(r"\"(?:train_batch_size|train_micro_batch_size_per_gpu|zero_optimization)\"\s*:")
# What Hjson takes and JSON does not: comments, no comma at the end of a line, one before the end of a list.
# Sources: deepspeedai/DeepSpeed 0.19.6 runtime/config.py: DeepSpeedConfig, hjson.load; hjson.github.io, "Syntax".
# A text or a comment that does not end is one too. Otherwise the search reads on from each of its characters.
_COMMENTS = re.compile(r"""(?P<text>"(?>(?:[^"\\\n]|\\.)*)"?)|/\*.*?(?:\*/|\Z)|(?://|\#)[^\n]*""", re.DOTALL)
_NO_COMMA = re.compile(r"""(?<=["\]}\w])[^\S\n]*\n(?=\s*["\[{])""")
_SPARE_COMMA = re.compile(r",(?=\s*[\]}])")
_MASKED = re.compile(r"""[:=-]\s+\*{2,}\s*(?:\#.*)?""")
# helm-unittest reads a suite again with each backslash doubled if YAML knows no such escape.
# Source: helm-unittest/helm-unittest pkg/unittest/test_suite.go: createTestSuite.
_SUITE = re.compile(r"^(?:tests|suite):", re.MULTILINE)
_ASSERTS = re.compile(r"^[ \t-]+asserts:", re.MULTILINE)
# What Python prints for data, which begins as JSON with other quotes does.
_PRINTED = re.compile(r"\s*[\[{][\s\[{]*'\w+': ")
# A variable of the shell, which between brackets is YAML only after envsubst.
_VARIABLE = re.compile(r"(?<![\w.-])[\w.-]{0,63}\$\{\w+\}")
_INVALID = re.compile(r"(?:^|[-_.])(?:invalid|malformed|unparsable)(?=[-_.])", re.IGNORECASE)
_KEY = re.compile(r"^([A-Za-z]\w*):", re.MULTILINE)


def reason(reading: Reading) -> str | None:
    """Returns the reason why a broken file is not judged; None if its faults are the user's to mend."""
    text = reading.source.text
    if not text.strip():
        return None
    if _INVALID.search(os.path.basename(reading.source.name)):
        return "not checked: its name says that it is broken, as the data of a test"
    form = _other_form(reading, text)
    if form is not None:
        return form
    fault = reading.broken[0]
    if any(isinstance(document.tree, dict) and "kind" in document.tree for document in reading.documents):
        return None
    if _DEEPSPEED.search(text) and _is_hjson(text):
        return (
            f"not checked: DeepSpeed reads it as Hjson, and other programs do not: line {fault.line}: {fault.message}"
        )
    if _KUBERNETES.search(text) or _DEEPSPEED.search(text) or _is_values(text):
        return None
    return f"not checked: nothing names it as Kubernetes, and it cannot be parsed: line {fault.line}: {fault.message}"


def _other_form(reading: Reading, text: str) -> str | None:
    """Returns why a text that names Kubernetes is no object of it: what another program makes, reads or prints."""
    fault = reading.broken[0]
    if is_sealed(text):
        return SEALED
    if text.startswith("// Jest Snapshot"):
        return "not checked: this is a snapshot of Jest, a program that quotes what tests have made"
    if _MIME.search(text):
        return "not checked: this is MIME, which holds documents and is none"
    if _LINES.search(text) or _WORDS.search(text) or _is_template(text):
        return "not checked: this is a template, which is no YAML before it is rendered"
    numbered = lines(reading.source)
    faulty = [numbered[at] for at in {min(one.line, len(numbered)) - 1 for one in reading.broken}]
    if all(map(_MASKED.search, faulty)):
        return f"not checked: a value is masked with asterisks, which are no YAML without quotes: line {fault.line}"
    follows = all(_follows_word(numbered, min(one.line, len(numbered)) - 1) for one in reading.broken)
    if follows or all(map(_has_variable_in_brackets, faulty)):
        return "not checked: this is a template, which is no YAML before it is rendered"
    if _PRINTED.match(text):
        return "not checked: a program of Python printed this, and it is no JSON"
    if _has_records(numbered):
        return "not checked: each line is a record of its own, as in a log"
    if all("escape" in one.message for one in reading.broken) and _SUITE.search(text) and _ASSERTS.search(text):
        return f"not checked: helm-unittest reads a backslash that YAML refuses: line {fault.line}"
    return None


def _follows_word(numbered: Sequence[str], at: int) -> bool:
    """True if a line, or the one before it, is a word alone that a program replaces."""
    return any(_LINE.fullmatch(line) for line in numbered[max(at - 1, 0) : at + 1])


def _has_variable_in_brackets(line: str) -> bool:
    # One expression for all of it would take quadratic time for many brackets.
    found = _VARIABLE.search(line)
    before = re.split("[\"']", line[: found.start()])[-1] if found else ""
    return "[" in before or "{" in before


def _has_records(numbered: Sequence[str]) -> bool:
    """True if the first two lines are each an object of JSON, and the first is none of Kubernetes."""
    try:
        first, second = (json.loads(line) for line in numbered[:2])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and isinstance(second, dict) and not {"apiVersion", "kind"} <= first.keys()


def is_sealed(text: str) -> bool:
    """True for the bytes of an encrypted file, read as text: tools such as git-crypt open it where it is used."""
    return "\N{REPLACEMENT CHARACTER}" in text and _CONTROLS.search(text) is not None


def _is_template(text: str) -> bool:
    """True if a text has an action of a template outside of quotes and comments, which end with their line."""
    found = _TEMPLATE.search(text)
    while found is not None:
        start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        line = text[start : end if end >= 0 else len(text)]
        if _TEMPLATE.search(_QUOTED.sub("", line)):
            return True
        found = _TEMPLATE.search(text, start + len(line))
    return False


def _is_hjson(text: str) -> bool:
    """True if a text becomes JSON with the commas that Hjson does not need, and without comments."""
    plain = _COMMENTS.sub(lambda found: found["text"] or "", text)
    try:
        json.loads(_SPARE_COMMA.sub("", _NO_COMMA.sub(",\n", plain)))
    except (ValueError, RecursionError):
        return False
    return True


def _is_values(text: str) -> bool:
    """True if a damaged text has the keys of a run's values."""
    keys = set(_KEY.findall(text))
    return bool(keys & OWN_KEYS) or len(keys & (TELLING_KEYS | {"image", "resources", "fabric"})) > 1
