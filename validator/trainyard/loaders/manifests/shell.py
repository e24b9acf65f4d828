"""Parses shell text to commands and exports: enough of the grammar to find what a training script sets and starts."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from trainyard.document.document import Place
from trainyard.model.run import Command, Setting
from trainyard.startup import NamedTuple, pattern

SHELLS = ("sh", "bash", "dash", "ash", "zsh", "ksh")

# Linux passes no longer argument to a program (MAX_ARG_STRLEN). The rest of a longer file is not read, because each
# command takes as long as a hundred bytes of YAML.
MAX_LENGTH = 128 * 1024

# Repetition does not backtrack: text without a closing quote would otherwise be tried in every possible way. Groups are
# atomic and not possessive, which Python 3.11.0 to 3.11.4 gets wrong.
_SUBSTITUTION = r"\$\((?>(?:[^()]++|\((?>(?:[^()]++|\([^()]*+\))*)\))*)\)"
# Compiled for the first script: most files have none.
_TOKEN = rf"""(?P<skip>[ \t\r]++|\\\r?\n|(?<![^\s;|&(])\#[^\n]*+)
      | (?P<function>\(\))
      | (?P<end>\n|;;?&?|&&|\|\||\|&?|&(?!>)|[(){{}}](?=\s|$|[;|&)<>]))
      | (?P<redirect>[0-9]*+(?:<<<|<<-?|>>|>&|<&|<>|>\||<(?!\()|>(?!\()|&>>?)[ \t]*+)
      | (?P<word>(?>(?:{_SUBSTITUTION}|[<>]\([^()]*+\)|\$\{{(?>(?:[^{{}}]++|\{{[^{{}}]*+\}})*)\}}
            |[^\s;|&<>()'"\\`$]++|\\.|`[^`]*+`|\$?'[^']*+'
            |\$?"(?>(?:\\.|{_SUBSTITUTION}|[^"\\$]++|\$)*)"|\$)+))
      | (?P<other>.)"""
_PIECE = rf"""\$?'([^']*+)'|\$?"((?>(?:\\.|{_SUBSTITUTION}|[^"\\$]++|\$)*))"|\\(.)|([^'"\\$]++|\$)"""
_ESCAPED = pattern(r'\\(?:\n|(["\\$`]))')
_QUOTING = pattern(r"""['"\\]""")
_ASSIGNMENT = pattern(r"[A-Za-z_][A-Za-z0-9_]*+\+?=")

_KEYWORDS = frozenset(("then", "do", "else", "elif", "if", "while", "until", "!", "time"))
_SYNTAX = frozenset(("for", "case", "select", "function", "fi", "done", "esac", "in", "[", "[[", "{", "}"))
_DECLARATIONS = frozenset(("export", "declare", "typeset", "local", "readonly"))
# Programs that start another one, and the number of their own arguments before it, options aside.
_STARTERS = {"exec": 0, "nohup": 0, "sudo": 0, "command": 0, "stdbuf": 0, "setsid": 0, "timeout": 1}


class Word(NamedTuple):
    """A word without its quotes, and its line, counted from 0."""

    text: str
    line: int


class Statement(NamedTuple):
    """A simple command with its assignments; `end` is the operator after it (`|`, `&&`, a line end ...)."""

    words: tuple[Word, ...]
    end: str


def unquote(word: str) -> str:
    """Returns the word as the program receives it, without expansion of variables."""
    if not _QUOTING.search(word):
        return word
    return "".join(
        single or _ESCAPED.sub(r"\1", double) or escaped.strip("\n") or plain
        for single, double, escaped, plain in re.findall(_PIECE, word, re.DOTALL)
    )


@functools.lru_cache(maxsize=16)
def statements(text: str) -> tuple[Statement, ...]:
    """Returns the simple commands of a script, in order. The text of a here-document is data, not a command."""
    return tuple(_statements(text[:MAX_LENGTH]))


def _statements(text: str) -> Iterator[Statement]:
    words, depth = list[Word](), 0
    for kind, piece, line in _pieces(text):
        if kind == "word":
            words.append(Word(unquote(piece), line))
        elif kind == "function" or (piece == ")" and not depth):
            # The name of a function at its definition, or a pattern of `case`.
            words.clear()
        elif kind == "end" and words:
            yield Statement(tuple(words), piece)
            words.clear()
        depth = max(0, depth + (piece == "(") - (piece == ")"))
    if words:
        yield Statement(tuple(words), "")


def _pieces(text: str) -> Iterator[tuple[str | None, str, int]]:
    """Yields words and operators with their lines; redirections and here-documents are left out."""
    line, position, redirect, delimiters = 0, 0, "", list[tuple[str, bool]]()
    token = re.compile(_TOKEN, re.VERBOSE | re.DOTALL)
    while (match := token.match(text, position)) is not None:
        kind, piece, position = match.lastgroup, match.group(), match.end()
        if kind == "redirect":
            redirect = piece.strip().lstrip("0123456789")
        elif kind == "word" and redirect in ("<<", "<<-"):
            delimiters.append((unquote(piece), redirect == "<<-"))
        elif kind != "skip" and not (kind == "word" and redirect):
            yield kind, piece, line
        if kind not in ("redirect", "skip"):
            redirect = ""
        if piece == "\n" and delimiters:
            position = _behind_here_documents(text, position, delimiters)
            delimiters.clear()
        line += text.count("\n", match.start(), position)


def _behind_here_documents(text: str, position: int, delimiters: list[tuple[str, bool]]) -> int:
    for delimiter, tabs in delimiters:
        while position < len(text):
            end = text.find("\n", position)
            end = len(text) if end < 0 else end
            found = text[position:end].rstrip("\r")
            position = end + 1
            if (found.lstrip("\t") if tabs else found) == delimiter:
                break
    return min(position, len(text))


def pipelines(text: str) -> Iterator[tuple[Statement, ...]]:
    """Yields the commands of a script, grouped by pipeline."""
    stages: list[Statement] = []
    for statement in statements(text):
        stages.append(statement)
        if statement.end not in ("|", "|&"):
            yield tuple(stages)
            stages = []
    if stages:
        yield tuple(stages)


def strip_wrappers(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """Returns the assignments before a program, and the program with its arguments, without wrappers such as `env`."""
    index, assignments = 0, list[Word]()
    while index < len(words):
        word = words[index].text
        program = word.rsplit("/", 1)[-1]
        if word in _KEYWORDS:
            index += 1
        elif program == "env" or program in _STARTERS:
            index += 1
            while index < len(words) and words[index].text.startswith("-"):
                index += 1
            index += _STARTERS.get(program, 0)
        elif _ASSIGNMENT.match(word):
            assignments.append(words[index])
            index += 1
        else:
            break
    return tuple(assignments), words[index:]


def parse_script(text: str, at: Place) -> tuple[list[Command], list[Setting]]:
    """Returns the commands of a script in order, and the variables that it sets for them."""
    commands: list[Command] = []
    settings: list[Setting] = []
    for statement in statements(text):
        assignments, words = strip_wrappers(statement.words)
        if words and words[0].text in _DECLARATIONS:
            settings += _assignments(words[1:], at, "script")
            continue
        settings += _assignments(assignments, at, "command" if words else "script")
        if words and words[0].text not in _SYNTAX:
            places = tuple(at.word(word.line, word.text) for word in words)
            commands.append(Command(tuple(word.text for word in words), places, places[0]))
    return commands, settings


def _assignments(words: tuple[Word, ...], at: Place, via: str) -> list[Setting]:
    result = []
    for word in words:
        name, equals, value = word.text.partition("=")
        if equals and name.rstrip("+").isidentifier():
            result.append(Setting(name.rstrip("+"), value, value, via, at.word(word.line, word.text)))
    return result


def mpirun_settings(command: Command) -> Iterator[Setting]:
    """Yields variables that `mpirun -x NAME=VALUE` sets for the processes; `-x NAME` alone passes the launcher's on."""
    for index, word in enumerate(command.words[:-1]):
        if word == "-x":
            name, equals, value = command.words[index + 1].partition("=")
            if equals and name.isidentifier():
                yield Setting(name, value, value, "mpirun", command.word_at[index + 1])
