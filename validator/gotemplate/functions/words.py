"""Texts of words: their case, their space, and parts of them.

Sources: sprig v3 strings.go, goutils, Go `strings`; huandu/xstrings v1.5.0 convert.go.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib
from collections.abc import Sequence

from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.functions.texts import function_of, print_value
from gotemplate.programs import Function
from gotemplate.tracked import Value, derived_origin, first_origin

# A letter, a digit, an underscore: no other character continues a word.
_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s")
_SPACED = re.compile(r"\S+")
# The words of a name in camel case: capitals up to the last one before a small letter, or a capital and small letters.
_CAMEL = re.compile(r"[A-Z]{2,}(?![A-Za-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z]*|[a-z]+")
_LETTERS = re.compile(r"[A-Za-z]+(?:[-_ ][A-Za-z]+)*")
_ALPHANUMERIC = re.compile(r"[A-Za-z0-9]+(?:[-_ ][A-Za-z0-9]+)*")
# Longer texts take longer than a linter may, and no chart needs one.
_MAX_REPEATED = 1_000_000


def _changed(letter: str, other: str) -> str:
    """Returns the letter in another case. Go maps a letter to one letter, Python some to two."""
    return other if len(other) == 1 else letter


def _title(text: str) -> str:
    return _WORD.sub(lambda word: _changed(word[0][0], word[0][0].title()) + word[0][1:], text)


def _untitle(text: str) -> str:
    return _SPACED.sub(lambda word: _changed(word[0][0], word[0][0].lower()) + word[0][1:], text)


def _swapped(text: str) -> str:
    letters = []
    for number, letter in enumerate(text):
        starts = letter.islower() and (not number or text[number - 1].isspace())
        letters.append(_changed(letter, letter.title() if starts else letter.swapcase()))
    return "".join(letters)


def _joined(connector: str, text: str) -> str:
    if text and not _LETTERS.fullmatch(text):
        raise UnsupportedError("snakecase and kebabcase of other texts than letters")
    words = (word for part in re.split("[-_ ]", text) for word in _CAMEL.findall(part))
    return connector.join(words).lower()


def _pascal(text: str) -> str:
    if text and not _ALPHANUMERIC.fullmatch(text):
        raise UnsupportedError("camelcase of other texts than letters and digits")
    return "".join(_capitalized(word) for word in re.split("[-_ ]", text))


def _capitalized(word: str) -> str:
    """Returns a word with a capital first; further capitals right behind a capital become small."""
    capitals = len(word) - len(word.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    return word[:1].upper() + word[1 : max(1, capitals)].lower() + word[max(1, capitals) :]


def _repeated(count: float, text: str) -> str:
    if count < 0:
        raise FailedError("strings: negative Repeat count")
    if count * len(text) > _MAX_REPEATED:
        raise UnsupportedError(f"a text of more than {_MAX_REPEATED:,} characters")
    return text * int(count)


def _cat(args: Sequence[Value]) -> Value:
    return Value(" ".join(print_value(value) for value in args if value.data is not None).strip(), first_origin(args))


def _decoded(text: str) -> str:
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise UnsupportedError("b64dec of other data than text") from None


def _split(text: Value, words: Sequence[str]) -> Value:
    return Value({f"_{number}": Value(word, derived_origin(text.source)) for number, word in enumerate(words)})


def _split_all(args: Sequence[Value]) -> Value:
    separator, text = args
    return _split(text, text.data.split(separator.data))


def _split_some(args: Sequence[Value]) -> Value:
    separator, count, text = args
    if count.data < 1:
        raise UnsupportedError("splitn into so many parts")
    return _split(text, text.data.split(separator.data, int(count.data) - 1))


FUNCTIONS: dict[str, Function] = {
    "title": function_of(_title),
    "untitle": function_of(_untitle),
    "swapcase": function_of(_swapped),
    "snakecase": function_of(lambda text: _joined("_", text)),
    "kebabcase": function_of(lambda text: _joined("-", text)),
    "camelcase": function_of(_pascal),
    "nospace": function_of(lambda text: _SPACE.sub("", text)),
    "initials": function_of(lambda text: "".join(word[0] for word in text.split())),
    "repeat": function_of(_repeated),
    "cat": _cat,
    "trimAll": function_of(lambda letters, text: text.strip(letters) if letters else text),
    "split": _split_all,
    "splitn": _split_some,
    "b64dec": function_of(_decoded),
    "sha1sum": function_of(lambda text: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()),
    "adler32sum": function_of(lambda text: str(zlib.adler32(text.encode()))),
}
