"""The program of Megatron-LM in a container, with its options from the command and from arrays of its script."""

from __future__ import annotations

import re

from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.model.run import Command, Container

Found = tuple[int, Place]
# Options without a value, and names of variables that hold options.
_FLAG = re.compile(
    r"--(?:(?:use|overlap|no|disable|untie|distribute)-.*|bf16|fp16|mock-data|swiglu|sequence-parallel|tp-comm-overlap|"
    r"group-query-attention|moe-grouped-gemm|moe-permute-fusion|recompute-activations|finetune)"
)
_OF_OPTIONS = re.compile(r"ARG|OPT|FLAG|EXTRA|PARAM", re.IGNORECASE)


def megatron_command(container: Container) -> Command | None:
    """Returns the command that starts the one `pretrain_*.py`, with the options in arrays of its script."""
    found = [
        one
        for one in container.commands
        if any(word.rsplit("/", 1)[-1].startswith("pretrain_") and word.endswith(".py") for word in one.words)
    ]
    if len(found) != 1:
        return None
    # The parser takes each line of an array for a command.
    parts = (*found, *(one for one in container.commands if one.words[0].startswith("--")))
    words = tuple(word for one in parts for word in one.words)
    return Command(words, tuple(at for one in parts for at in one.word_at), found[0].at)


def is_repeated(command: Command, *names: str) -> bool:
    """True if one of these options stands more than once: a script then chooses among them."""
    given = [word.partition("=")[0].replace("_", "-") for word in command.words if word.startswith("--")]
    return any(given.count(name) > 1 for name in names)


def size_of(command: Command, container: Container, name: str) -> Found | None:
    """Returns a whole number above 0 that an option gives, itself or by a variable of the script, and its place."""
    option = command.option_at(name)
    if option is None:
        return None
    told = option[0]
    if told.startswith("$"):
        values = {one.value for one in container.settings if one.name == told.strip("${}") and one.via == "script"}
        told = values.pop() or "" if len(values) == 1 else ""
    size = decimal(told)
    return (size, option[1]) if size else None


def shows_all_options(command: Command, container: Container) -> bool:
    """True if no word stands for options that the command does not show; arrays of the script are part of it."""
    arrays = {name for script in container.scripts for name in _arrays(script.text)}
    words = zip(("", *command.words), command.words, strict=False)
    return not any(_hides(before, word) and _variable(word) not in arrays for before, word in words)


def _hides(before: str, word: str) -> bool:
    """True if a word is a variable, and not surely the value of the option before it."""
    is_value = before.startswith("--") and "=" not in before and not _FLAG.fullmatch(before)
    return word.startswith("$") and (not is_value or _OF_OPTIONS.search(word) is not None)


def _variable(word: str) -> str:
    return word.strip('"${}').removesuffix("[@]")


def _arrays(text: str) -> list[str]:
    return [line.strip().partition("=(")[0] for line in text.splitlines() if "=(" in line]
