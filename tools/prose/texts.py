"""Prose that is not in Markdown files, as Markdown for Vale."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from tests.harness.__main__ import app as harness
from tools.generate.__main__ import app as generators
from trainer.config import TrainerConfig
from trainer.config.flags import DESCRIPTION
from trainer.config.option import flag
from trainyard.cli.main import trainyard

_TARGET = re.compile(r"^([a-z0-9-]+):.*?## (.*)$|^##@ (.*)$", re.MULTILINE)
_DESCRIPTION = re.compile(r"^(\s*)# -- (?:\(.*?\) )?")
_CONTINUATION = re.compile(r"^\s*# (?!@)")


def help_texts(makefile: Path) -> str:
    """Returns the help of every command line of the repository."""
    commands = [
        *_commands("trainyard", trainyard),
        *_commands("python -m tests.harness", typer.main.get_command(harness)),
        *_commands("python -m tools.generate", typer.main.get_command(generators)),
        *_trainer(),
        *_make(makefile.read_text()),
    ]
    return "\n".join(commands)


def values_comments(text: str) -> str:
    """Returns the descriptions in a chart's `values.yaml`, each at its own line so that positions stay valid."""
    lines = []
    inside = False
    for line in text.split("\n"):
        if match := _DESCRIPTION.match(line):
            inside = True
            lines += [line[match.end() :]]
        elif inside and (match := _CONTINUATION.match(line)):
            lines += [line[match.end() :]]
        else:
            inside = False
            lines += [""]
    return "\n".join(lines)


def _commands(name: str, command: Any) -> Iterator[str]:
    yield f"## `{name}`\n"
    yield from _paragraphs(command.help or "")
    yield from _paragraphs(command.epilog or "")
    for parameter in command.params:
        words = getattr(parameter, "help", None)
        if words:
            yield f"- `{parameter.opts[-1]}`: {words}\n"
    # Typer has a copy of click, so its groups are of another class than those of `trainyard`.
    if hasattr(command, "list_commands"):
        context = command.context_class(command)
        for part in command.list_commands(context):
            yield from _commands(f"{name} {part}", command.get_command(context, part))


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        # click prints a paragraph that starts with \b as it is: examples.
        if paragraph.startswith("\b"):
            yield f"```console\n{paragraph.removeprefix(chr(8)).strip()}\n```\n"
        else:
            yield f"{paragraph}\n"


def _trainer() -> Iterator[str]:
    yield f"## `python -m trainer`\n\n{DESCRIPTION}\n"
    for field in fields(TrainerConfig):
        yield f"- `{flag(field.name)}`: {field.metadata['help']}\n"


def _make(text: str) -> Iterator[str]:
    yield "## `make`\n"
    for match in _TARGET.finditer(text):
        yield f"- `{match[1]}`: {match[2]}\n" if match[1] else f"### {match[3]}\n"
