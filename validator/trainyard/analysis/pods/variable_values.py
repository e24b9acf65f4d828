"""Values of environment variables that programs parse."""

from __future__ import annotations

from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.programs.library_variables import Values
from trainyard.startup import pattern

_INTEGER = pattern(r"\s*[+-]?[0-9](_?[0-9])*\s*")
_COUNT = pattern(r"0*[1-9][0-9]*")
_NUMBER = pattern(r"\s*[+-]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_QUOTES = ('"', "'")
_A = {"integer": "a whole number", "number": "a number", "integers": "a whole number", "counts": "a number above 0"}


def is_taken(value: str, known: Values) -> bool:
    """Whether the program takes this value."""
    if known.form == "integer":
        return _INTEGER.fullmatch(value) is not None
    if known.form == "integers":
        return all(_INTEGER.fullmatch(one.strip()) is not None for one in value.split(","))
    if known.form == "counts":
        return all(_COUNT.fullmatch(one.strip()) is not None for one in value.split(","))
    if known.form == "transports":
        return all(one.strip().lstrip("^\\").partition(":")[0].lower() in known.words for one in value.split(","))
    if known.form == "number":
        return _NUMBER.fullmatch(value) is not None
    if known.form == "words":
        return all(one.strip().lower() in known.words for one in value.split(","))
    return (value if known.is_exact else value.strip().lower()) in known.words


def wanted_value(value: str, known: Values) -> str:
    """Returns what to write instead of a value that the program does not take."""
    if value[:1] in _QUOTES and value[-1:] == value[:1]:
        return "remove the quotation marks within the value"
    if known.form in _A:
        return "write `1` or `0`" if value.lower() in ("true", "false", "yes", "no") else f"write {_A[known.form]}"
    if known.form == "transports":
        return _transport(value, known.words)
    return f"write one of {format_list(f'`{one}`' for one in known.words if one)}"


def _transport(value: str, words: tuple[str, ...]) -> str:
    if "," not in value and len(value.split()) > 1:
        return "write commas between the transports"
    unknown = [one.strip().lstrip("^\\").partition(":")[0].lower() for one in value.split(",")]
    near = next((closest_match(one, words, 0.6) for one in unknown if one not in words), None)
    return (
        f"did you mean `{near}`?" if near is not None else "write `all`, or names such as `rc,cuda_copy,cuda_ipc,tcp`"
    )
