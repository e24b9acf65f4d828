"""Scalars as Helm's templates print them: a number from the values is a 64-bit float, an int is Go's own."""

from __future__ import annotations

from typing import Any


def json_scalar(value: Any) -> str:
    """Returns a scalar as Go writes it in JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    sign, digits, exponent = _shortest(value)
    if digits == "0" or -7 < exponent < 21:
        return sign + _positional(digits, exponent)
    return sign + _scientific(digits, f"{exponent:+d}")


def print_scalar(value: Any) -> str:
    """Returns a scalar as a template prints it: `{{ .Values.nodes }}`."""
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return json_scalar(value) if isinstance(value, bool) else value
    if isinstance(value, int):
        return str(value)
    sign, digits, exponent = _shortest(value)
    if digits == "0" or -5 < exponent < 6:
        return sign + _positional(digits, exponent)
    return sign + _scientific(digits, f"{exponent:+03d}")


def _shortest(value: float) -> tuple[str, str, int]:
    """Returns sign, digits and decimal exponent (of the first digit) of the shortest text that parses to the number."""
    written = repr(value)
    mantissa, _, power = written.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    exponent = int(power or 0) + len(whole) - leading - 1
    return "-" if written[0] == "-" else "", digits.rstrip("0") or "0", exponent


def _positional(digits: str, exponent: int) -> str:
    if digits == "0":
        return "0"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def _scientific(digits: str, exponent: str) -> str:
    return f"{digits[0]}.{digits[1:]}e{exponent}" if digits[1:] else f"{digits}e{exponent}"
