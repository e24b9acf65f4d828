"""A feature gate that a file sets, and the forms in which files write them: a map, a list, or a text with commas."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.facts.feature_gates import Version
from trainyard.facts.images import tag_of
from trainyard.facts.programs.go_words import FALSE, TRUE
from trainyard.startup import NamedTuple, pattern

FLAG = "feature-gates"
# Of one map, list or text: no program has as many gates, and their names are no longer.
_MOST, _LONGEST = 512, 1 << 14
_NAME = pattern(r"[A-Za-z][A-Za-z0-9]*")
_RELEASE = pattern(r"v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])(?!.*(?:alpha|beta|rc))[-+\w.]*")
_WORDS = dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)


class Written(NamedTuple):
    """A gate as a file writes it; `value` is None if it is neither true nor false."""

    name: str
    value: bool | None
    at: Place


class Gate(NamedTuple):
    """A gate of a program. `version` is the one that the files state, None if they do not."""

    program: str
    name: str
    value: bool | None
    at: Place
    version: Version | None


def gates(program: str, version: Version | None, written: Iterator[Written]) -> Iterator[Gate]:
    """Yields the gates of a program in a version."""
    for one in written:
        yield Gate(program, one.name, one.value, one.at, version)


def in_map(tree: Any, at: Place) -> Iterator[Written]:
    """Yields the gates of `featureGates: {NAME: true}`."""
    for name, value in islice(mapping(tree).items(), _MOST):
        if isinstance(name, str) and _NAME.fullmatch(name):
            yield Written(name, _value(value), at.child(name).key())


def in_list(listed: Any, at: Place) -> Iterator[Written]:
    """Yields the gates of a list of `name` and `enabled`, or of texts."""
    for index, entry in enumerate(listed[:_MOST] if isinstance(listed, list) else ()):
        name = text(entry, "name")
        if isinstance(entry, str):
            yield from in_text(entry, at.child(index))
        elif _NAME.fullmatch(name):
            yield Written(name, _value(mapping(entry).get("enabled")), at.child(index, "name"))


def in_text(written: Any, at: Place) -> Iterator[Written]:
    """Yields the gates of `NAME=true,OTHER=false`."""
    for part in written.split(",") if isinstance(written, str) and len(written) < _LONGEST else ():
        name, equals, value = part.partition("=")
        if equals and _NAME.fullmatch(name.strip()):
            yield Written(name.strip(), _value(value.strip()), at._replace(words=name.strip()))


def in_arguments(words: Any, at: Place) -> Iterator[Written]:
    """Yields the gates of a list of arguments."""
    previous = ""
    for index, word in enumerate(words if isinstance(words, list) else ()):
        if not isinstance(word, str):
            continue
        name, equals, value = word.strip().partition("=")
        if equals and name.lstrip("-") == FLAG:
            yield from in_text(value, at.child(index))
        elif previous == f"--{FLAG}":
            yield from in_text(word, at.child(index))
        previous = word


def in_extra_arguments(arguments: Any, at: Place) -> Iterator[Written]:
    """Yields the gates of `extraArgs`, a map or a list of `name` and `value`."""
    if isinstance(arguments, list):
        for index, entry in enumerate(arguments):
            if text(entry, "name") == FLAG:
                yield from in_text(mapping(entry).get("value"), at.child(index, "value"))
    else:
        yield from in_text(mapping(arguments).get(FLAG), at.child(FLAG))


def release(written: Any) -> Version | None:
    """Returns the version in a text; None if there is none, or one before its release."""
    found = _RELEASE.fullmatch(written) if isinstance(written, str) and len(written) < 100 else None
    return tuple(int(number) for number in found.groups() if number) if found is not None else None


def of_image(image: Any) -> Version | None:
    """Returns the version in the tag of an image."""
    return release(tag_of(image)) if isinstance(image, str) else None


def _value(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    return _WORDS.get(value) if isinstance(value, str) else None
