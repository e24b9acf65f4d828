"""Shows text of others on a terminal or in a log, where control characters and some words are commands."""

from __future__ import annotations

# Sources: actions/runner src/Runner.Common/ActionCommand.cs; microsoft/azure-pipelines-agent LoggingCommands.
_COMMANDS = ("##[", "##vso[")


def visible(text: str) -> str:
    """Returns the text on one line, without control characters and commands of CI services."""
    if not text.isprintable():
        text = "".join(
            letter if letter.isprintable() else " " if letter in "\t\n" else f"\\x{ord(letter):02x}" for letter in text
        )
    return without_commands(text)


def without_commands(text: str) -> str:
    """Returns a text in which GitHub and Azure Pipelines find no command that may stand anywhere in a line."""
    for command in _COMMANDS if "##" in text else ():
        text = text.replace(command, f"#\\x23{command[2:]}")
    return text


def whole_line(text: str) -> str:
    """Returns a text that starts a line: GitHub runs `::command::` at the start of one, also after spaces."""
    shown = visible(text)
    return f"\\x3a{shown.lstrip()[1:]}" if shown.lstrip().startswith("::") else shown


def path(name: str) -> str:
    """Returns the name of a file that starts a line; the name still leads to the file."""
    shown = visible(name)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown
