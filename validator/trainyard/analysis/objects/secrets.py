"""Values of Secrets: the names of keys that hold a token, and words that somebody replaces."""

from __future__ import annotations

import base64
import binascii

from trainyard.startup import pattern

TOKEN_NAMES = pattern(r"(?i)(^|[_.-])(token|api[_-]?key|access[_-]?key(_id)?|secret[_-]?key)$")
# Words that a person or a tool replaces before the Secret is created.
PLACEHOLDER = pattern(
    r"(?i)\{\{|[$#]\{|\A\$[A-Z_]\w*\Z|\A(?:__\w+__|%\w+%|@+\w+@+)\Z|\A(?:op://|ref[:+]|\(\()|[<>\[\]*]|\.\.\.|base64|your|replace|change|example|placeholder|x{4,}|todo"
    r"|\A(?-i:[A-Z]+(?:_[A-Z]+)+)\Z"
)


def decoded(value: str) -> bytes | None:
    """Returns the bytes of a value under `data`; None if it is not base64."""
    try:
        return base64.b64decode("".join(value.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
