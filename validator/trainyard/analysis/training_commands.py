"""Tells a container's training commands from those that only prepare: download, print versions, list GPUs."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.facts.launchers import launcher_in

_HELPERS = ("-c", "-", "-V", "--version", "json.tool", "pip", "torch.utils.collect_env")


def starts_launcher(words: tuple[str, ...]) -> bool:
    """True if a command starts a distributed launcher."""
    return launcher_in(words) is not None


def training_indexes(commands: Sequence[tuple[str, ...]]) -> frozenset[int]:
    """Returns the indexes of the training commands: those with a launcher, or else the last that runs Python."""
    launched = frozenset(index for index, words in enumerate(commands) if starts_launcher(words))
    programs = [index for index, words in enumerate(commands) if _runs_python(words)]
    return launched or frozenset(programs[-1:])


def _runs_python(words: Sequence[str]) -> bool:
    if not words or not words[0].rsplit("/", 1)[-1].startswith("python"):
        return False
    return len(words) > 1 and not any(word in _HELPERS for word in words[1:3])
