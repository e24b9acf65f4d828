"""Plain YAML scalars as sigs.k8s.io/yaml resolves them, the parser of Helm and kubectl."""

from __future__ import annotations

import math
import re
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
_NUMERIC = frozenset("0123456789+-.")


def resolve_scalar(text: str) -> Any:
    """Returns the value of a plain scalar: null, boolean, number or string."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] in _NUMERIC:
        bare = text.replace("_", "")
        # Go and Python refuse numbers of thousands of digits; they stay text.
        if _INTEGER.match(bare) and len(bare) < 1000:
            return _integer(bare)
        if _FLOAT.match(bare) and math.isfinite(number := float(bare)):
            return number
    return text


def _integer(text: str) -> int:
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return int(text, 8)
    return int(text, 0)
