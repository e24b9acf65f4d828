"""Arguments of Hugging Face's Trainer in a command."""

from __future__ import annotations

from trainyard.document.document import Place
from trainyard.facts.programs.hugging_face import ARGUMENT_FALSE
from trainyard.model.run import Command


def with_underscores(option: str) -> str:
    """Returns an option as the Trainer's documentation has it: `--save_only_model` for `--save-only-model`."""
    return f"--{option[2:].replace('-', '_')}"


def flag_on(command: Command, name: str) -> Place | None:
    """Returns the place of a switch that is on: alone, or with a word that is not for false."""
    followers = (*command.words, "")[1:]
    for word, at, after in zip(command.words, command.word_at, followers, strict=True):
        option, equals, value = word.partition("=")
        if option.replace("_", "-") == name:
            told = value if equals else after
            return None if told.lower() in ARGUMENT_FALSE or "$" in told else at
    return None
