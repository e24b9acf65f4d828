"""A plan as shell commands, to read or to run by hand."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from trainyard.commands.local.plan import Plan
from trainyard.reporters.escaping import visible, without_commands


def shell_lines(plan: Plan, *, attached: bool = False) -> Iterator[str]:
    """Yields the folders, the files, and a command for each node, in the background unless it is `attached`."""
    folders = dict.fromkeys(folder for node in plan.nodes for folder in node.folders)
    if folders:
        yield _join(["mkdir", "-p", *map(str, folders)])
    for node in plan.nodes:
        for path, text in node.files.items():
            yield f"printf %s {_quote(text)} > {_quote(str(path))}"
    for node in plan.nodes:
        yield f"# {visible(node.name)}"
        variables = [f"{name}={value}" for name, value in sorted(node.environment.items())]
        yield _join(["env", *variables, *node.argv]) + ("" if attached else " &")
    if not attached:
        yield "wait"


def _join(words: Iterable[str]) -> str:
    return " ".join(map(_quote, words))


def _quote(text: str) -> str:
    """Returns a word for the shell that a terminal or a log can show.

    Only a word with control characters, or with a command of a CI service, needs the quotes of bash.
    """
    lines = text.split("\n")
    is_plain = all(line.replace("\t", "").isprintable() and not line.lstrip().startswith("::") for line in lines)
    if is_plain and without_commands(text) == text:
        return shlex.quote(text)
    # Bash, too, reads the escape of a sign in a command.
    return "$'" + without_commands("".join(map(_escaped, text))) + "'"


def _escaped(letter: str) -> str:
    if letter in "'\\":
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    # The bytes of a file name that is not UTF-8 are surrogates.
    encoded = letter.encode("utf-8", "surrogateescape" if "\udc80" <= letter <= "\udcff" else "replace")
    return "".join(f"\\{byte:03o}" for byte in encoded)
