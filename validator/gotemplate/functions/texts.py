"""Strings: printed, quoted, transformed, searched."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from gotemplate import printing
from gotemplate.errors import UnsupportedError
from gotemplate.programs import Function
from gotemplate.tracked import Value, derived_origin, first_origin, indented, last_origin, spans_of, stripped

_VERB = re.compile(r"%(?:%|(0?\d*)(.))")
# Characters that may not stand for themselves in quotes.
_UNUSUAL = re.compile(r"[^ !#-\[\]-~]")
_SHORT = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\", '"': '"'}


def print_value(value: Value) -> str:
    """Returns a value as a template prints it. Helm prints nothing for null."""
    data = value.data
    if data is None:
        return ""
    if isinstance(data, dict):
        return f"map[{' '.join(f'{key}:{_inner(item)}' for key, item in value.items())}]"
    if isinstance(data, list):
        return f"[{' '.join(_inner(item) for _, item in value.items())}]"
    return printing.print_scalar(data)


def _inner(value: Value) -> str:
    return "<nil>" if value.data is None else print_value(value)


def quote(text: str) -> str:
    """Returns the text in quotes, as Go's %q."""
    return f'"{text if _UNUSUAL.search(text) is None else text.translate(_ESCAPES)}"'


class _Escapes(dict[int, str]):
    """The text for each letter in quotes. A function for each letter of a long text would take ten times as long."""

    def __missing__(self, code: int) -> str:
        self[code] = _escaped(chr(code))
        return self[code]


_ESCAPES = _Escapes()


def _escaped(letter: str) -> str:
    if letter in _SHORT:
        return f"\\{_SHORT[letter]}"
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _print(args: Sequence[Value]) -> Value:
    if len(args) == 1:
        return args[0] if isinstance(args[0].data, str) else Value(print_value(args[0]), args[0].source)
    words = [_inner(args[0])]
    for before, value in itertools.pairwise(args):
        apart = not isinstance(before.data, str) and not isinstance(value.data, str)
        words.append(" " * apart + _inner(value))
    return Value("".join(words), last_origin(args))


def _println(args: Sequence[Value]) -> Value:
    return Value(" ".join(map(_inner, args)) + "\n", last_origin(args))


def _quote(write: Callable[[str], str]) -> Function:
    def function(args: Sequence[Value]) -> Value:
        words = [write(print_value(value)) for value in args if value.data is not None]
        return Value(" ".join(words), args[0].source if len(args) == 1 else last_origin(args))

    return function


def function_of(make: Callable[..., Any], *, keeps: bool = False) -> Function:
    """Returns a function of plain texts and numbers, the text last. `keeps`: the result still is a copy of the text."""

    def function(args: Sequence[Value]) -> Value:
        source = args[-1].source
        words = [value.data if isinstance(value.data, int | float) else print_value(value) for value in args]
        return Value(make(*words), source if keeps else derived_origin(source) or first_origin(args))

    return function


def _printf(args: Sequence[Value]) -> Value:
    values = iter(args[1:])

    def word(match: re.Match[str]) -> str:
        if match[2] is None:
            return "%"
        if match[2] not in "sdqvtc":
            raise UnsupportedError(f"{match[0]} in printf")
        value = next(values, None)
        if value is None:
            raise UnsupportedError("printf with too few values")
        if match[2] in "dc" and (not isinstance(value.data, int) or isinstance(value.data, bool)):
            raise UnsupportedError(f"{match[0]} of a value that is not an integer")
        if match[2] == "s" and isinstance(value.data, bool | int | float):
            raise UnsupportedError("%s of a value that is not a string")
        if match[2] == "c":
            return chr(value.data)
        written = quote(print_value(value)) if match[2] == "q" else _inner(value)
        return written.rjust(int(match[1] or 0), "0" if match[1].startswith("0") else " ")

    text = _VERB.sub(word, args[0].data)
    if next(values, None) is not None:
        raise UnsupportedError("printf with too many values")
    return Value(text, last_origin(args[1:]))


def _indent(*, line: bool) -> Function:
    def function(args: Sequence[Value]) -> Value:
        columns, text = args
        moved = indented(Value(text.data, None, spans_of(text)), int(columns.data))
        if not line:
            return moved
        spans = tuple(span._replace(start=span.start + 1, end=span.end + 1) for span in moved.spans)
        return Value("\n" + moved.data, None, spans)

    return function


def _trim(args: Sequence[Value]) -> Value:
    (text,) = args
    return stripped(text)


def _truncated(length: float, text: str) -> str:
    return text[: int(length)] if length >= 0 else text[int(length) :]


def _part(start: float, end: float, text: str) -> str:
    return text[: int(end)] if start < 0 else text[int(start) :] if end < 0 else text[int(start) : int(end)]


FUNCTIONS: dict[str, Function] = {
    "toString": function_of(lambda text: text if isinstance(text, str) else printing.print_scalar(text), keeps=True),
    "quote": _quote(quote),
    "squote": _quote(lambda text: f"'{text}'"),
    "print": _print,
    "println": _println,
    "printf": _printf,
    "indent": _indent(line=False),
    "nindent": _indent(line=True),
    "trim": _trim,
    "trimSuffix": function_of(lambda suffix, text: text.removesuffix(suffix)),
    "trimPrefix": function_of(lambda prefix, text: text.removeprefix(prefix)),
    "trunc": function_of(_truncated),
    "lower": function_of(str.lower),
    "upper": function_of(str.upper),
    "replace": function_of(lambda old, new, text: text.replace(old, new), keeps=True),
    "contains": function_of(lambda part, text: part in text),
    "hasPrefix": function_of(lambda prefix, text: text.startswith(prefix)),
    "hasSuffix": function_of(lambda suffix, text: text.endswith(suffix)),
    "substr": function_of(_part),
    "sha256sum": function_of(lambda text: hashlib.sha256(text.encode()).hexdigest()),
    "b64enc": function_of(lambda text: base64.b64encode(text.encode()).decode()),
}
