"""Plain YAML scalars as sigs.k8s.io/yaml resolves them, the parser of Helm and kubectl."""

from __future__ import annotations

import functools
import math
import re
import struct
from typing import Any

_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|[1-9][0-9]*|0)$")
# Possessive repetition: a long text that only begins like a number would otherwise be tried in every possible way.
_FLOAT = re.compile(r"[-+]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?$")
# Other integers are floating-point numbers in decimal notation, and texts in another one.
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1
_NUMERIC = frozenset("0123456789+-.")


def resolve_scalar(text: str) -> Any:
    """Returns the value of a plain scalar: null, boolean, number or string."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] in _NUMERIC:
        # Underscores in a number that begins with a point make it text.
        bare = text if text[0] == "." else text.replace("_", "")
        # Go and Python refuse numbers of thousands of digits; they stay text.
        if _INTEGER.match(bare) and len(bare) < 1000 and _MIN_INTEGER <= (whole := _integer(bare)) <= _MAX_INTEGER:
            return whole
        if _FLOAT.match(bare) and math.isfinite(number := float(bare)):
            return number
    return text


def _integer(text: str) -> int:
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return int(text, 8)
    return int(text, 0)


@functools.lru_cache(maxsize=1024)
def key_text(text: str) -> str:
    """Returns the key that a plain scalar becomes in JSON: `on` is `true`, and `0x1` is `1`.

    Raises `ValueError` for null and for integers that do not fit.
    """
    if text not in _CONSTANTS and (not text or text[0] not in _NUMERIC):
        return text
    value = resolve_scalar(text)
    if value is None:
        raise ValueError("a mapping key is null; write a string, in quotes")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value >= 2**63:
            raise ValueError(f"the mapping key {text} is too large a number; write it in quotes")
        return str(value)
    return text if isinstance(value, str) else _float_key(value)


def _float_key(value: float) -> str:
    """Returns a number with as many digits as 32 bits hold, as `strconv.FormatFloat(value, 'g', -1, 32)` does."""
    if not math.isfinite(value):
        return {math.inf: ".inf", -math.inf: "-.inf"}.get(value, ".nan")
    try:
        # With a byte order: Python then refuses a number that is too large, and returns no infinity.
        same = struct.pack("<f", value)
    except OverflowError:
        return "-.inf" if value < 0 else ".inf"
    (short,) = struct.unpack("<f", same)
    written = next(
        text for text in (f"{short:.{count}e}" for count in range(10)) if struct.pack("<f", float(text)) == same
    )
    mantissa, _, exponent = written.partition("e")
    if not -4 <= int(exponent) < 6:
        return written
    digits = len(mantissa.lstrip("-").replace(".", ""))
    return f"{float(written):.{max(digits - 1 - int(exponent), 0)}f}"
