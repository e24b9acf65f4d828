"""Commands, files and output that pages and help texts show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from trainer.config.flags import EXAMPLES
from trainyard.cli.main import COMMANDS, trainyard

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "recipes/README.md",
    "trainer/README.md",
    *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md"))),
    *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("charts/*/README.md"))),
)

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ((?:build/)?[\w.-]+\.yaml)\n")
_INLINE = re.compile(r"`([a-z]+ [^`\n]+)`")
# In a help text an example and its explanation stand in two columns.
_EXPLANATION = re.compile(r" {3,}\S.*$")


class Example(NamedTuple):
    """A command that a page shows, with the output below it and the files that the page shows before it."""

    page: str
    line: int
    command: str
    output: str = ""
    files: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.page}:{self.line} {self.command}"


def of_pages() -> Iterator[Example]:
    """Yields the commands in the code blocks of all pages."""
    for page in PAGES:
        text = (ROOT / page).read_text()
        files: dict[str, str] = {}
        for block in _BLOCK.finditer(text):
            if block[1] == "yaml" and (named := _FILE.match(block[2])):
                files[named[1]] = block[2]
            if block[1] in ("console", "bash", "sh", "shell"):
                first = text.count("\n", 0, block.start()) + 2
                for line, command, output in _commands(block[2]):
                    yield Example(page, first + line, command, output, tuple(files.items()))


def folder_of(page: str) -> Path | None:
    """Returns the folder with the files of a tutorial, which has the name of its page."""
    folder = (ROOT / page).with_suffix("")
    return folder if page.startswith("docs/tutorials/") and folder.is_dir() else None


def files_of(page: str) -> dict[str, str]:
    """Returns the files that a page shows, by their names."""
    blocks = (block[2] for block in _BLOCK.finditer((ROOT / page).read_text()) if block[1] == "yaml")
    return {named[1]: text for text in blocks if (named := _FILE.match(text))}


def of_help() -> Iterator[Example]:
    """Yields the examples in the help of `trainyard`, of its commands, and of the trainer."""
    helps = {"trainyard": trainyard.help or ""}
    context = trainyard.make_context("trainyard", [], resilient_parsing=True)
    for name in COMMANDS:
        command = trainyard.get_command(context, name)
        assert command is not None
        helps[f"trainyard {name}"] = command.help or ""
    for name, text in helps.items():
        for block in re.findall(r"\x08\n(.*?)(?:\n\n|\Z)", text, re.DOTALL):
            yield from _columns(f"{name} --help", block)
    yield from _columns("python -m trainer --help", EXAMPLES.partition("\n")[2])


def in_prose() -> Iterator[Example]:
    """Yields the commands between backticks in the text of all pages, each once."""
    seen = set()
    for page in PAGES:
        text = _BLOCK.sub(lambda block: "\n" * block[0].count("\n"), (ROOT / page).read_text())
        for found in _INLINE.finditer(text):
            command = found[1].replace("\\|", "|")
            if command not in seen:
                seen.add(command)
                yield Example(page, text.count("\n", 0, found.start()) + 1, command)


def _columns(page: str, block: str) -> Iterator[Example]:
    lines = re.sub(r"\\\n\s*", "", block).splitlines()
    for number, line in enumerate(lines, 1):
        yield Example(page, number, _EXPLANATION.sub("", line.strip()))


def _commands(block: str) -> Iterator[tuple[int, str, str]]:
    """Yields line, command and output. Without a prompt in a block every line of it is a command."""
    lines = block.rstrip("\n").split("\n")
    prompted = any(line.startswith("$ ") for line in lines)
    index = 0
    while index < len(lines):
        start = index
        words = [lines[index]]
        while words[-1].endswith("\\"):
            index += 1
            words.append(lines[index])
        index += 1
        output: list[str] = []
        while prompted and index < len(lines) and not lines[index].startswith("$ "):
            output.append(lines[index])
            index += 1
        command = "\n".join(words).removeprefix("$ ")
        if command.strip():
            yield start, command, "\n".join(output).strip("\n")
