"""Integers as NCCL reads them. Source: NVIDIA/nccl v2.30.7-1 src/misc/param.cc, ncclLoadParam: strtoll with base 0."""

from __future__ import annotations

from trainyard.startup import pattern

_NUMBER = pattern(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")


def parse_integer(text: str | None) -> int | None:
    """Returns the number at the start of the text; None if there is none, or if the text is not known."""
    match = _NUMBER.match(text or "")
    if match is None:
        return None
    sign, digits = match.groups()
    octal = len(digits) > 1 and digits[1].isdigit() and digits[0] == "0"
    # 64 bits hold far fewer digits; Python refuses to parse thousands.
    value = int(digits[:40], 8 if octal else 0)
    return -value if sign == "-" else value
