"""Regular expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gotemplate.errors import UnsupportedError
from gotemplate.functions.texts import function_of
from gotemplate.programs import Function
from gotemplate.tracked import Value, derived_origin

# What may hold a `$` of a pattern: an escaped character, a class of characters, or the `$` that is the end of the text.
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\$", re.DOTALL)
_DASH = re.compile(r"(\\[wWdDsS])-(?!\])")
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(_PART.sub(_in_python, text))
    except re.error:
        raise UnsupportedError(f"the pattern `{text}`") from None


def _in_python(part: re.Match[str]) -> str:
    # `$` is only the end of the text in Go. In Python it also matches before a last line break.
    if part[0] == "$":
        return r"\Z"
    # No range begins with a class of characters: for Go, a dash behind one is a dash.
    return _DASH.sub(r"\1\\-", part[0]) if part[0].startswith("[") else part[0]


def _found(pattern: str, text: str) -> str:
    match = _pattern(pattern).search(text)
    return match[0] if match is not None else ""


def _found_all(args: Sequence[Value]) -> Value:
    pattern, text, count = args
    found: list[str] = []
    end = -1
    for match in _pattern(pattern.data).finditer(text.data):
        # Go drops an empty match that touches the one before it.
        if match[0] or match.start() != end:
            found.append(match[0])
        end = match.end()
    kept = found if count.data < 0 else found[: int(count.data)]
    return Value([Value(word, derived_origin(text.source)) for word in kept])


def _replaced(pattern: str, text: str, replacement: str) -> str:
    return _pattern(pattern).sub(re.sub(r"\$\{?(\d+)\}?", r"\\g<\1>", replacement.replace("\\", r"\\")), text)


def _split(args: Sequence[Value]) -> Value:
    pattern, text, count = args
    if count.data >= 0:
        raise UnsupportedError("regexSplit into so many parts")
    return Value([Value(word, derived_origin(text.source)) for word in _pattern(pattern.data).split(text.data)])


FUNCTIONS: dict[str, Function] = {
    "regexMatch": function_of(lambda pattern, text: _pattern(pattern).search(text) is not None),
    "regexFind": function_of(_found),
    "regexFindAll": _found_all,
    "regexReplaceAll": function_of(_replaced),
    "regexReplaceAllLiteral": function_of(lambda pattern, text, word: _pattern(pattern).sub(lambda _: word, text)),
    "regexSplit": _split,
    "regexQuoteMeta": function_of(lambda text: _SPECIAL.sub(r"\\\g<0>", text)),
}
