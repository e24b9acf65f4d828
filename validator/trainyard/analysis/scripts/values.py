"""Expands words, as far as an exit code depends on them."""

from __future__ import annotations

import re

from trainyard.analysis.scripts.lexer import UnsupportedError
from trainyard.analysis.scripts.state import FAILURE, State, Status, Value
from trainyard.loaders.manifests.shell import unquote

_REFERENCE = re.compile(r"\$(?:\{([A-Za-z_]\w*|[?!#0-9])\}|([A-Za-z_]\w*|[?!0-9]))")
_STATUSES = re.compile(r"\$\{PIPESTATUS(?:\[(\d+)\])?\}|\$(PIPESTATUS)\b")
_DEFAULT = re.compile(r"\$\{([A-Za-z_]\w*):?-(\w*)\}")
_ARITHMETIC = re.compile(r"\$\(\(\s*\$?\{?(\w+|\?)\}?\s*\)\)")
# Characters that a shell expands in a word without quotes.
_GLOB = re.compile(r"[*?\[{~]")
_QUOTE = re.compile(r"['\"\\]")


def expand(word: str, state: State) -> Value:
    """Returns the value of a word; None if it is not known."""
    quoted = word.startswith('"') and word.endswith('"') and word.count('"') == 2
    body = word[1:-1] if quoted else word
    whole = _reference(body, state)
    if whole is not None:
        return whole[0]
    if "$" not in body and "`" not in body:
        return unquote(word)
    if word.startswith("'") and word.endswith("'") and word.count("'") == 2:
        return word[1:-1]
    if "`" in body or "$(" in body or (not quoted and _QUOTE.search(body)) or "\\" in body:
        return None
    return _joined(body, state)


def _reference(body: str, state: State) -> tuple[Value] | None:
    """Returns the value of a word that is a single reference."""
    if match := _REFERENCE.fullmatch(body):
        return (_variable(match[1] or match[2], state),)
    if match := _STATUSES.fullmatch(body):
        index = int(match[1] or 0)
        return (as_value(state.statuses[index]) if index < len(state.statuses) else None,)
    if match := _DEFAULT.fullmatch(body):
        value = _variable(match[1], state)
        return (value,)
    if match := _ARITHMETIC.fullmatch(body):
        value = match[1] if match[1].isdigit() else _variable(match[1], state)
        return (value if not isinstance(value, str) or value.isdigit() else None,)
    return None


def _joined(body: str, state: State) -> Value:
    pieces, position = list[str](), 0
    for match in _REFERENCE.finditer(body):
        value = _variable(match[1] or match[2], state)
        if not isinstance(value, str):
            return None
        pieces += (body[position : match.start()], value)
        position = match.end()
    rest = body[position:]
    return None if "$" in rest or any("$" in piece for piece in pieces[::2]) else "".join((*pieces, rest))


def _variable(name: str, state: State) -> Value:
    if name == "?":
        return as_value(state.status)
    if name == "!":
        return (len(state.jobs) - 1,) if state.jobs else None
    if name.isdigit():
        known = state.arguments if state.arguments is not None else ()
        return known[int(name) - 1] if 0 < int(name) <= len(known) else None
    return state.variables.get(name)


def as_value(status: Status) -> Value:
    """Returns an exit code as the value of a variable."""
    return str(status) if isinstance(status, int) else status


def as_status(value: Value) -> Status | None:
    """Returns the exit code that `exit` makes of a value; None if it is not known."""
    if value is FAILURE:
        return FAILURE
    return int(value) % 256 if isinstance(value, str) and value.isdigit() else None


def expand_words(words: tuple[str, ...], state: State) -> tuple[Value, ...]:
    """Returns the words of a command, split as a shell splits them."""
    found = list[Value]()
    for word in words:
        if word in ('"$@"', "$@", "$*", '"${@}"') and state.arguments is not None:
            found += state.arguments
            continue
        value = expand(word, state)
        if isinstance(value, str) and word.startswith("$") and not word.startswith("$(("):
            if _GLOB.search(value) or _QUOTE.search(value):
                raise UnsupportedError(word)
            found += value.split()
        elif isinstance(value, str) and not found and "$" not in word and _GLOB.search(value) and value != "[":
            raise UnsupportedError(word)
        else:
            found.append(value)
    return tuple(found)


def test(words: tuple[Value, ...]) -> bool | None:
    """Returns the result of `[ ... ]`; None if it is not known."""
    if words and words[0] == "!":
        inner = test(words[1:])
        return None if inner is None else not inner
    if len(words) == 2 and words[0] in ("-z", "-n"):
        empty = None if words[1] is None else words[1] == ""
        return None if empty is None else empty == (words[0] == "-z")
    if len(words) == 3:
        return compare(words[0], str(words[1]), words[2])
    return None


_OPERATORS = {"-eq": "==", "-ne": "!=", "=": "==", "-gt": ">", "-ge": ">=", "-lt": "<", "-le": "<="}


def compare(left: Value, operator: str, right: Value) -> bool | None:
    """Returns the result of a comparison; None if it is not known."""
    as_text = operator in ("=", "==", "!=")
    operator = _OPERATORS.get(operator, operator)
    if right is FAILURE and left is not FAILURE:
        mirrored = {">": "<", "<": ">", ">=": "<=", "<=": ">="}.get(operator, operator)
        return compare(right, mirrored, left)
    if not isinstance(right, str):
        return None
    if left is FAILURE:
        # An exit code other than 0 is 1 to 255.
        known = {"==": False, "!=": True, ">": True, "<": False, "<=": False, ">=": True}
        return known.get(operator) if right == "0" or (right == "1" and operator in (">=", "<")) else None
    if not isinstance(left, str):
        return None
    if operator in ("==", "!="):
        if as_text or not (left.isdigit() and right.isdigit()):
            plain = as_text and not _GLOB.search(right)
            return (left == right) == (operator == "==") if plain else None
        return (int(left) == int(right)) == (operator == "==")
    if not (left.isdigit() and right.isdigit()):
        return None
    numbers = int(left), int(right)
    results = {">": numbers[0] > numbers[1], ">=": numbers[0] >= numbers[1], "<": numbers[0] < numbers[1]}
    return results.get(operator, numbers[0] <= numbers[1] if operator == "<=" else None)


_COMPARISON = re.compile(r"\s*\$?\{?(\w+|\?)\}?\s*(==|!=|>=|<=|>|<)\s*(\d+)\s*")
_SINGLE = re.compile(r"\s*\$?\{?(\w+|\?)\}?\s*")


def arithmetic(text: str, state: State) -> bool | None:
    """Returns the result of `(( ... ))`; None if it is not known."""
    # The tokens `! =` come from `!=`, which is no operator of commands.
    text = re.sub(r"([!=<>])\s+=", r"\1=", text)
    if match := _COMPARISON.fullmatch(text):
        value = match[1] if match[1].isdigit() else _variable(match[1], state)
        return compare(value, {"==": "-eq", "!=": "-ne"}.get(match[2], match[2]), match[3])
    if match := _SINGLE.fullmatch(text):
        value = match[1] if match[1].isdigit() else _variable(match[1], state)
        return compare(value, "-ne", "0")
    return None
