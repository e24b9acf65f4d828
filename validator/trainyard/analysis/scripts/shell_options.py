"""Options of a shell: of `set`, and of `bash` itself."""

from __future__ import annotations

from collections.abc import Iterable

from trainyard.analysis.scripts.lexer import UnsupportedError
from trainyard.analysis.scripts.state import State, Value


def with_options(words: Iterable[Value], state: State) -> tuple[State, list[Value]]:
    """Returns the state with the options at the start of `words`, and the words after them."""
    rest = list(words)
    while rest and isinstance(word := rest[0], str) and word[:1] in ("-", "+") and word not in ("--", "-"):
        rest.pop(0)
        on = word[0] == "-"
        for letter in word[1:] if not word.startswith("--") else "":
            if letter == "o":
                name = rest.pop(0) if rest else None
                if not isinstance(name, str):
                    raise UnsupportedError("-o")
                state = _changed(state, name, on=on)
            else:
                state = _changed(state, letter, on=on)
            if letter == "n":
                raise UnsupportedError(word)
    return state, rest


def _changed(state: State, name: str, *, on: bool) -> State:
    match name:
        case "errexit" | "e":
            return state._replace(errexit=on)
        case "errtrace" | "E":
            return state._replace(errtrace=on)
        case "pipefail":
            return state._replace(pipefail=on)
    return state


def shell_script(words: tuple[Value, ...]) -> tuple[list[Value], Value, list[Value]]:
    """Returns the options of a shell's command line, its file or None before `-c`, and the words after."""
    options, rest = list[Value](), list(words)
    while rest and isinstance(word := rest[0], str) and word[:1] in ("-", "+") and word != "-":
        rest.pop(0)
        if word in ("--login", "--norc", "--noprofile", "--posix", "-"):
            continue
        if word.startswith("--"):
            break
        letters = word.replace("c", "").replace("l", "").replace("i", "").replace("s", "")
        options += [letters] if len(letters) > 1 else []
        if "o" in word and rest:
            options.append(rest.pop(0))
        if "c" in word[1:] and word != "-o":
            if not rest:
                raise UnsupportedError("-c")
            return options, None, rest[1:]
        if "s" in word[1:]:
            raise UnsupportedError(word)
    return options, rest[0] if rest else None, rest[1:]
