"""Splits shell text into words and operators, with the text of here-documents.

Text that the grammar of bash allows and this module does not know raises `UnsupportedError`: the exit code is then
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# A longer script is not read.
MAX_LENGTH = 32 * 1024
_DEEPEST = 20

_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(r"\n|;;&|;;|;&|;|&&|\|\||\|&|\||&(?!>)|\(|\)")
_REDIRECT = re.compile(r"(?:[0-9]+|\{\w+\})?(?:<<<|<<-?|<>|<&|<(?!\()|>>|>&|>\||>(?!\())|&>>?")
_PLAIN = re.compile(r"[^\s;|&<>()'\"\\`$]+")
_PLAIN_IN_DOUBLE = re.compile(r"[^\"\\`$]+")
_PLAIN_IN_BRACES = re.compile(r"[^}'\"\\`$]+")
_PLAIN_IN_PARENTHESES = re.compile(r"[^()'\"\\`$#]+")


class UnsupportedError(Exception):
    """Shell text whose exit code this package cannot determine."""


class Token(NamedTuple):
    """A word, an operator or a redirection, as written; `line` counts from 0.

    `kind` is "word", "operator", "redirect" or "document", which is the text of a here-document.
    """

    kind: str
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    """Yields the tokens of a script. A here-document follows the end of the line that it begins on."""
    if len(text) > MAX_LENGTH:
        raise UnsupportedError("too long")
    position, line, documents, expected = 0, 0, list[tuple[str, bool]](), ""
    while position < len(text):
        start = position
        if (match := _BLANK.match(text, position)) or (match := _COMMENT.match(text, position)):
            position = match.end()
        elif match := _REDIRECT.match(text, position):
            position = match.end()
            expected = match.group().lstrip("0123456789")
            yield Token("redirect", match.group(), line)
        elif match := _OPERATOR.match(text, position):
            position = match.end()
            yield Token("operator", match.group(), line)
            if match.group() == "\n":
                line += 1
                for delimiter, tabs in documents:
                    body, after = _document(text, position, delimiter, tabs)
                    yield Token("document", body, line)
                    line += text.count("\n", position, after)
                    position = after
                documents.clear()
                continue
        else:
            position = word_end(text, position)
            word = text[start:position]
            yield Token("word", word, line)
            if expected in ("<<", "<<-"):
                documents.append((re.sub(r"[\\'\"]", "", word), expected == "<<-"))
            expected = ""
        line += text.count("\n", start, position) if text[start:position] != "\n" else 0
    if documents:
        raise UnsupportedError("a here-document without an end")


def _document(text: str, position: int, delimiter: str, tabs: bool) -> tuple[str, int]:
    """Returns the text of a here-document, and the index after it."""
    lines = list[str]()
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end].rstrip("\r")
        line = line.lstrip("\t") if tabs else line
        position = min(end + 1, len(text))
        if line == delimiter:
            return "".join(f"{line}\n" for line in lines), position
        lines.append(line)
    raise UnsupportedError("a here-document without an end")


def word_end(text: str, position: int) -> int:
    """Returns the index after the word that starts at `position`."""
    start = position
    while position < len(text):
        character = text[position]
        if match := _PLAIN.match(text, position):
            position = match.end()
        elif character in "'\"\\`$":
            position = _quoted(text, position, 0)
        elif character in "<>" and text[position + 1 : position + 2] == "(" and position == start:
            position = _balanced(text, position + 2, 0)
        elif character == "(" and position > start and text[position - 1] == "=":
            position = _balanced(text, position + 1, 0)
        else:
            break
    if position == start:
        raise UnsupportedError(text[start : start + 10])
    return position


def _quoted(text: str, position: int, depth: int) -> int:
    """Returns the index after a quote, an escape or an expansion that starts at `position`."""
    if depth > _DEEPEST:
        raise UnsupportedError("too deep")
    character, following = text[position], text[position + 1 : position + 2]
    if character == "\\":
        return position + 2
    if character == "'":
        return _found(text.find("'", position + 1)) + 1
    if character == '"':
        return _until('"', _PLAIN_IN_DOUBLE, text, position + 1, depth)
    if character == "`":
        return _backquote_end(text, position)
    if following == "(":
        return _balanced(text, position + 2, depth)
    if following == "{":
        return _until("}", _PLAIN_IN_BRACES, text, position + 2, depth)
    if following == "'":
        raise UnsupportedError("$'")
    return position + 1


def _until(end: str, plain: re.Pattern[str], text: str, position: int, depth: int) -> int:
    while position < len(text) and text[position] != end:
        match = plain.match(text, position)
        if match:
            position = match.end()
        elif text[position] == "'" and end == '"':
            position += 1
        else:
            position = _quoted(text, position, depth + 1)
    return _found(position if position < len(text) else -1) + 1


def _backquote_end(text: str, position: int) -> int:
    match = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL).match(text, position)
    return match.end() if match else _found(-1)


def _balanced(text: str, position: int, depth: int) -> int:
    """Returns the index after the parenthesis that closes the one before `position`."""
    if depth > _DEEPEST:
        raise UnsupportedError("too deep")
    while position < len(text) and text[position] != ")":
        match = _PLAIN_IN_PARENTHESES.match(text, position)
        if match:
            position = match.end()
        elif text[position] == "(":
            position = _balanced(text, position + 1, depth + 1)
        elif text[position] == "#":
            comment = text[position - 1] in " \t\n" and _COMMENT.match(text, position)
            position = comment.end() if comment else position + 1
        else:
            position = _quoted(text, position, depth + 1)
    return _found(position if position < len(text) else -1) + 1


def _found(position: int) -> int:
    if position < 0:
        raise UnsupportedError("a quote or a parenthesis without an end")
    return position
