"""Builtins of the shell that an exit code depends on."""

from __future__ import annotations

import re
from collections.abc import Callable

from trainyard.analysis.scripts import values
from trainyard.analysis.scripts.lexer import UnsupportedError
from trainyard.analysis.scripts.shell_options import with_options
from trainyard.analysis.scripts.state import FAILURE, NEVER, State, Status, Value, either


def _exit(words: tuple[Value, ...], state: State) -> list[State]:
    return _ended("exit", words, state)


def _return(words: tuple[Value, ...], state: State) -> list[State]:
    if not state.may_return:
        raise UnsupportedError("return")
    return _ended("return", words, state)


def _ended(flow: str, words: tuple[Value, ...], state: State) -> list[State]:
    if not words:
        return [state._replace(flow=flow)]
    status = values.as_status(words[0])
    if status is None:
        return [state._replace(flow=flow, status=code) for code in (0, 1)]
    return [state._replace(flow=flow, status=status)]


def _break(words: tuple[Value, ...], state: State) -> list[State]:
    return _loop("break", words, state)


def _continue(words: tuple[Value, ...], state: State) -> list[State]:
    return _loop("continue", words, state)


def _loop(flow: str, words: tuple[Value, ...], state: State) -> list[State]:
    loops = words[0] if words else "1"
    if not isinstance(loops, str) or not loops.isdigit():
        raise UnsupportedError(flow)
    return [state._replace(flow=flow, loops=int(loops), status=0)]


def _set(words: tuple[Value, ...], state: State) -> list[State]:
    state, rest = with_options(words, state)
    if rest:
        state = state._replace(arguments=tuple(rest[1:] if rest[0] == "--" else rest))
    return [state.ends(0)]


def _trap(words: tuple[Value, ...], state: State) -> list[State]:
    if len(words) < 2:
        return [state.ends(0)]
    handler = "" if words[0] in ("-", "") else words[0]
    for signal in words[1:]:
        if signal in ("EXIT", "0", "ERR"):
            if not isinstance(handler, str):
                raise UnsupportedError("trap")
            if signal != "ERR" and re.search(r"\bexit\s*(?:$|[;}\n])", handler):
                raise UnsupportedError("exit")
            state = state._replace(on_error=handler) if signal == "ERR" else state._replace(on_exit=handler)
        elif not isinstance(signal, str) or signal in ("DEBUG", "RETURN", "CHLD", "SIGCHLD"):
            raise UnsupportedError("trap")
    return [state.ends(0)]


def _wait(words: tuple[Value, ...], state: State) -> list[State]:
    names = [word for word in words if word != "-f"]
    if any(isinstance(word, str) and word.startswith(("-", "%")) for word in names):
        if names == ["-n"] and len(state.jobs) == 1:
            return [_waited(state, state.jobs[0])]
        raise UnsupportedError("wait")
    if NEVER in state.jobs:
        raise UnsupportedError("a job that never ends")
    if not names:
        return [state.ends(0)]
    last = names[-1]
    if isinstance(last, tuple) and last[0] < len(state.jobs):
        return [_waited(state, state.jobs[last[0]])]
    return [state.ends(0), *[state.ends(FAILURE)] * (FAILURE in state.jobs), state.ends(1)]


def _waited(state: State, status: Status) -> State:
    if status == NEVER:
        raise UnsupportedError("a job that never ends")
    return state.ends(status)


def _test(words: tuple[Value, ...], state: State) -> list[State]:
    return either(state, values.test(tuple(word for word in words if word != "]")))


def _shift(words: tuple[Value, ...], state: State) -> list[State]:
    if state.arguments is not None:
        count = words[0] if words else "1"
        if not isinstance(count, str) or not count.isdigit():
            raise UnsupportedError("shift")
        state = state._replace(arguments=state.arguments[int(count) :])
    return [state.ends(0)]


def _unset(words: tuple[Value, ...], state: State) -> list[State]:
    for word in words:
        if isinstance(word, str) and not word.startswith("-"):
            state = state.set(word, None)
    return [state.ends(0)]


def _kill(words: tuple[Value, ...], state: State) -> list[State]:
    if any(word is None or word in ("0", "1", "-1") for word in words if word != "-9"):
        raise UnsupportedError("kill")
    return [state.ends(0)]


def _shopt(words: tuple[Value, ...], state: State) -> list[State]:
    if any(word in ("lastpipe", "inherit_errexit") for word in words):
        raise UnsupportedError("shopt")
    return [state.ends(0)]


def _alias(words: tuple[Value, ...], state: State) -> list[State]:
    raise UnsupportedError(f"alias {words} in {state.at}")


BUILTINS: dict[str, Callable[[tuple[Value, ...], State], list[State]]] = {
    "exit": _exit, "return": _return, "break": _break, "continue": _continue, "set": _set, "trap": _trap,
    "wait": _wait, "test": _test, "[": _test, "shift": _shift, "unset": _unset, "kill": _kill, "shopt": _shopt,
    "alias": _alias,
}  # fmt: skip
