"""Whether a program takes the value of its option, from the forms in `facts.programs.option_forms`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.programs.option_forms import RENDEZVOUS_KEYS, Form
from trainyard.startup import pattern

_INTEGER = pattern(r"[+-]?\d(_?\d)*")
_NUMBER = pattern(r"[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan)")
_STREAMS = pattern(r"[0123]|(\d+:[0123],)*\d+:[0123]")
_PORT_BEHIND = pattern(r"[^:]+:\d+")
# Signs of a value that something replaces before the program reads it.
_UNKNOWN = frozenset("$<`{")


def is_told(value: str) -> bool:
    """True if the value is the one that the program gets, and no place for another."""
    return bool(value) and _UNKNOWN.isdisjoint(value)


def fits(value: str, form: Form) -> bool:
    """True if the program takes the value."""
    return _CHECKS[form.kind](value.strip(), form)


def wanted(value: str, form: Form) -> str:
    """Returns what to write instead of a value that does not fit."""
    if form.kind in ("integer", "number"):
        return f"write {'a whole number' if form.kind == 'integer' else 'a number'}{_range(form)}"
    if form.kind == "processes":
        return "write a number above 0, or `gpu`"
    if form.kind == "word":
        near = closest_match(value.lower(), form.words, 0.7)
        return (
            f"write `{near}`" if near is not None else f"write one of {format_list(f'`{one}`' for one in form.words)}"
        )
    near = closest_match(value.lower(), form.near, 0.7) if form.near else None
    return f"write `{near}`" if near is not None else _WANTED[form.kind]


def rendezvous_faults(value: str) -> Iterator[tuple[str, str]]:
    """Yields what is wrong with the pairs of `--rdzv-conf`, each with what to write instead."""
    for pair in value.split(","):
        name, _, given = (part.strip() for part in pair.partition("="))
        form = RENDEZVOUS_KEYS.get(name)
        if form is not None and not fits(given, form):
            yield f"`{name}` is `{given}`, which the rendezvous refuses: the launcher stops", wanted(given, form)
        elif name not in RENDEZVOUS_KEYS:
            near = closest_match(name, RENDEZVOUS_KEYS, 0.8)
            if near is not None:
                yield f"the rendezvous has no `{name}`: the launcher ignores it", f"did you mean `{near}`?"


def _range(form: Form) -> str:
    if form.least is not None and form.most is not None:
        return f" from {form.least:g} to {form.most:g}"
    return f" of at least {form.least:g}" if form.least is not None else ""


def _integer(value: str, form: Form) -> bool:
    return _INTEGER.fullmatch(value) is not None and _is_within(float(value), form)


def _number(value: str, form: Form) -> bool:
    return _NUMBER.fullmatch(value.lower()) is not None and _is_within(float(value), form)


def _is_within(number: float, form: Form) -> bool:
    return (form.least is None or number >= form.least) and (form.most is None or number <= form.most)


def _word(value: str, form: Form) -> bool:
    if form.is_loose:
        return value.lower() in {word.lower() for word in form.words}
    return value in form.words


def _nodes(value: str, _: Form) -> bool:
    low, colon, high = value.partition(":")
    if not low.isdecimal() or (colon and not high.isdecimal()):
        return False
    return 0 < int(low) <= int(high if colon else low)


def _is_misspelt(value: str, names: tuple[str, ...]) -> bool:
    """True for a word that differs from one of the names in a letter or two."""
    return value.lower() not in names and closest_match(value.lower(), names, 0.7) is not None


def _pairs(value: str, _: Form) -> bool:
    pairs = (pair.partition("=") for pair in value.split(","))
    return all(name.strip() and text.strip() for name, sign, text in pairs)


def _host(value: str, _: Form) -> bool:
    # More than one colon is an IPv6 address.
    return "/" not in value and _PORT_BEHIND.fullmatch(value) is None


def _endpoint(value: str, _: Form) -> bool:
    host, colon, port = value.rpartition(":")
    if "/" in value:
        return False
    return not colon or port.isdecimal() or ":" in host


_CHECKS: dict[str, Callable[[str, Form], bool]] = {
    "integer": _integer,
    "number": _number,
    "word": _word,
    "not word": lambda value, form: value not in form.words and not _is_misspelt(value, form.near),
    "nodes": _nodes,
    "processes": lambda value, form: value in form.words or _integer(value, form),
    "streams": lambda value, _: _STREAMS.fullmatch(value) is not None,
    "integers": lambda value, form: all(_integer(one.strip(), form) for one in value.split(",")),
    "pairs": _pairs,
    "host": _host,
    "endpoint": _endpoint,
}
_WANTED = {
    "not word": "write `c10d`",
    "nodes": "write the number of nodes, or `MIN:MAX`",
    "streams": "write a number from 0 to 3, or `RANK:NUMBER,...`",
    "integers": "write whole numbers with commas",
    "pairs": "write `NAME=VALUE,NAME=VALUE`",
    "host": "write the name of a host alone: ports have an option of their own",
    "endpoint": "write `HOST:PORT`",
}
