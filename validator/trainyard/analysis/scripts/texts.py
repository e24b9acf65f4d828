"""Shell text inside of shell text: `bash -c "..."`, and scripts that a here-document writes."""

from __future__ import annotations

import re

from trainyard.analysis.scripts.lexer import UnsupportedError
from trainyard.analysis.scripts.state import State, Value
from trainyard.analysis.scripts.values import expand
from trainyard.loaders.manifests.shell import SHELLS

_EXPANSION = re.compile(r"\\([$`\"\\\n])|\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))|([$`])")
_SHEBANG = re.compile(r"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(\S+)((?:\s+-\S+)*)")


def script_word(word: str, state: State) -> str:
    """Returns the text that a shell gets as the word after `-c`."""
    value = expand(word, state)
    if isinstance(value, str):
        return value
    if not (word.startswith('"') and word.endswith('"') and len(word) > 1):
        raise UnsupportedError(word)
    return with_variables(word[1:-1], state)


def with_variables(text: str, state: State) -> str:
    """Returns text in double quotes as it is after expansion; variables of the environment stay references."""

    def expanded(match: re.Match[str]) -> str:
        escaped, name, special = match[1], match[2] or match[3], match[4]
        if escaped is not None:
            return "" if escaped == "\n" else escaped
        if special is not None:
            raise UnsupportedError(text)
        if name not in state.variables:
            return match.group()
        value: Value = state.variables[name]
        if not isinstance(value, str):
            raise UnsupportedError(name)
        return value

    return _EXPANSION.sub(expanded, text)


def shebang(text: str) -> tuple[str, list[Value]]:
    """Returns the shell that runs a script without a shell's name, and its options; empty for another program."""
    match = _SHEBANG.match(text)
    if match is None:
        return ("", []) if text.startswith("#!") else ("sh", [])
    program = match[1].rsplit("/", 1)[-1]
    return (program, list(match[2].split())) if program in SHELLS else ("", [])
