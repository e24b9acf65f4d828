"""The words of a command: positional words in order, and options by name, whatever their order is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_MODULE = ("-m", "--module")
_SHELLS = ("sh", "bash")


def command_facts(words: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yields the facts of a command: `words` are the positional ones, and each option has the program that it follows.

    `--lr 1` and `--lr=1` are the same. A shell's script is text: its lines are one fact.
    """
    if words and words[0].rsplit("/", 1)[-1] in _SHELLS and any(word.startswith("-") for word in words[1:2]):
        yield "words", list(words[:2])
        yield "script", "\n".join(words[2:])
        return
    positional, options = _split(list(words))
    yield "words", positional
    for name, values in options.items():
        yield name, values[0] if len(values) == 1 else values


def _split(words: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    positional: list[str] = []
    options: dict[str, list[str]] = {}
    owner = ""
    index = 0
    while index < len(words):
        word, after = words[index], words[index + 1] if index + 1 < len(words) else None
        index += 1
        if word in _MODULE and after is not None:
            positional += [word, after]
            owner, index = after, index + 1
        elif not word.startswith("-") or word == "-":
            positional.append(word)
            owner = word.rsplit("/", 1)[-1]
        else:
            name, equals, value = word.partition("=")
            if not equals and after is not None and not after.startswith("-"):
                value, index = after, index + 1
            # torchrun takes both spellings of its own options.
            name = name.replace("_", "-") if owner == "torchrun" else name
            options.setdefault(f"{owner} {name}".strip(), []).append(value)
    return positional, options
