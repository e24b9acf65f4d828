"""Text: printed, quoted, moved, searched."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from validator.roads.templates import printing
from validator.roads.templates.running import Function, Templates
from validator.roads.templates.syntax import UnsupportedError
from validator.roads.templates.tracked import Value, derived, first, indented, last, spanned, stripped

_VERB = re.compile(r"%(?:%|(0?\d*)([sdqvt]))")
_SHORT = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\", '"': '"'}


def printed(value: Value) -> str:
    """A value as a template writes it; Helm leaves out what is null."""
    data = value.data
    if data is None:
        return ""
    if isinstance(data, dict):
        return f"map[{' '.join(f'{key}:{_inner(item)}' for key, item in value.items())}]"
    if isinstance(data, list):
        return f"[{' '.join(_inner(item) for _, item in value.items())}]"
    return printing.printed(data)


def _inner(value: Value) -> str:
    return "<nil>" if value.data is None else printed(value)


def quoted(text: str) -> str:
    """Go's %q."""
    return '"' + "".join(_escaped(letter) for letter in text) + '"'


def _escaped(letter: str) -> str:
    if letter in _SHORT:
        return f"\\{_SHORT[letter]}"
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _print(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return args[0] if isinstance(args[0].data, str) else Value(printed(args[0]), args[0].source)


def _quote(write: Callable[[str], str]) -> Function:
    def function(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
        words = [write(printed(value)) for value in args if value.data is not None]
        return Value(" ".join(words), args[0].source if len(args) == 1 else last(args))

    return function


def _made(make: Callable[..., Any], *, keeps: bool = False) -> Function:
    """A function of plain texts and numbers, the text being the last; `keeps` when the result is still its copy."""

    def function(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
        source = args[-1].source
        words = [value.data if isinstance(value.data, int | float) else printed(value) for value in args]
        return Value(make(*words), source if keeps else derived(source) or first(args))

    return function


def _printf(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    values = iter(args[1:])

    def word(match: re.Match[str]) -> str:
        if match[2] is None:
            return "%"
        value = next(values)
        if match[2] == "d" and (not isinstance(value.data, int) or isinstance(value.data, bool)):
            raise UnsupportedError("%d of what is no integer")
        if match[2] == "s" and isinstance(value.data, bool | int | float):
            raise UnsupportedError("%s of what is no text")
        written = quoted(printed(value)) if match[2] == "q" else printed(value)
        return written.rjust(int(match[1] or 0), "0" if match[1].startswith("0") else " ")

    text = _VERB.sub(word, args[0].data)
    return Value(text, last(args[1:]))


def _indent(*, line: bool) -> Function:
    def function(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
        moved = indented(Value(args[1].data, None, spanned(args[1])), int(args[0].data))
        if not line:
            return moved
        spans = tuple(span._replace(start=span.start + 1, end=span.end + 1) for span in moved.spans)
        return Value("\n" + moved.data, None, spans)

    return function


def _trim(templates: Templates, args: Sequence[Value]) -> Value:  # noqa: ARG001
    return stripped(args[0])


def _truncated(length: float, text: str) -> str:
    return text[: int(length)] if length >= 0 else text[int(length) :]


def _matches(pattern: str, text: str) -> bool:
    return re.search(re.sub(r"(?<!\\)\$(?=$|\))", r"\\Z", pattern), text) is not None


FUNCTIONS: dict[str, Function] = {
    "toString": _made(lambda text: text if isinstance(text, str) else printing.printed(text), keeps=True),
    "quote": _quote(quoted),
    "squote": _quote(lambda text: f"'{text}'"),
    "print": _print,
    "printf": _printf,
    "indent": _indent(line=False),
    "nindent": _indent(line=True),
    "trim": _trim,
    "trimSuffix": _made(lambda suffix, text: text.removesuffix(suffix)),
    "trimPrefix": _made(lambda prefix, text: text.removeprefix(prefix)),
    "trunc": _made(_truncated),
    "lower": _made(str.lower),
    "upper": _made(str.upper),
    "replace": _made(lambda old, new, text: text.replace(old, new), keeps=True),
    "contains": _made(lambda part, text: part in text),
    "hasPrefix": _made(lambda prefix, text: text.startswith(prefix)),
    "hasSuffix": _made(lambda suffix, text: text.endswith(suffix)),
    "regexMatch": _made(_matches),
    "sha256sum": _made(lambda text: hashlib.sha256(text.encode()).hexdigest()),
    "b64enc": _made(lambda text: base64.b64encode(text.encode()).decode()),
}
