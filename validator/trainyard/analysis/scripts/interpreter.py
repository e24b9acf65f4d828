"""Follows a script whose launcher fails, along every path that it may take.

Commands that are not launchers succeed. Where a script asks for the result of a command (`if`, `||`, `!`), both
results are followed, unless the command surely succeeds. What this cannot follow raises `UnsupportedError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trainyard.analysis.scripts import values
from trainyard.analysis.scripts.lexer import UnsupportedError
from trainyard.analysis.scripts.state import FAILURE, NEVER, Launch, State, Status, Value, either
from trainyard.analysis.scripts.syntax import (
    AndOr,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Sequence,
    Simple,
    Test,
    While,
    parse,
    work,
)  # fmt: skip

# More paths, commands or calls are not followed.
_MOST_STATES = 32
_MOST_STEPS = 1000
_DEEPEST = 12
_ITERATIONS = 4


class Context(NamedTuple):
    """The use of a result: `is_asked` if a branch depends on it, `is_checked` if `set -e` ignores it."""

    is_asked: bool = False
    is_checked: bool = False


PLAIN = Context()
CONDITION = Context(is_asked=True, is_checked=True)
# What a simple command does to a state.
Execute = Callable[["Interpreter", Simple, State, Context], list[State]]


class Interpreter:
    """Follows commands; `execute` runs the simple ones."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        self._steps = 0

    def script(self, text: str, state: State) -> list[State]:
        """Returns the ends of a shell that runs a text."""
        return [end for state in self.sequence(parse(text), state, PLAIN) for end in self.ended(state)]

    def ended(self, state: State) -> list[State]:
        """Returns the ends of a shell that has no more commands, after its EXIT trap."""
        state = state._replace(flow="", loops=0)
        if not state.on_exit:
            return [state]
        handler = state._replace(on_exit="", on_error="", errexit=False)
        found = list[State]()
        for after in self.sequence(parse(state.on_exit), handler, PLAIN):
            status = after.status if after.flow == "exit" else state.status
            found.append(after._replace(status=status, flow="", loops=0, errexit=state.errexit))
        return found

    def sequence(self, sequence: Sequence, state: State, context: Context) -> list[State]:
        """Returns the states after a list of commands."""
        states = [state]
        for item, background in sequence.items:
            states = _distinct(
                after
                for before in states
                for after in ([before] if before.flow else self._item(item, before, context, background=background))
            )
        return states

    def _item(self, item: AndOr, state: State, context: Context, *, background: bool) -> list[State]:
        return self._background(item, state) if background else self._and_or(item, state, context)

    def _background(self, item: AndOr, state: State) -> list[State]:
        ends = self.subshell(lambda inner: self._and_or(item, inner, PLAIN), state)
        if not ends:
            return [state._replace(status=0, statuses=(), jobs=(*state.jobs, NEVER))]
        return [
            state._replace(status=0, statuses=(), launches=end.launches, jobs=(*state.jobs, end.status)) for end in ends
        ]

    def subshell(self, run: Callable[[State], list[State]], state: State) -> list[State]:
        """Returns the ends of a subshell, as states of the shell itself; only its status counts."""
        return _distinct(state.after(end) for inner in run(state.inner()) for end in self.ended(inner))

    def _and_or(self, item: AndOr, state: State, context: Context) -> list[State]:
        states = [state]
        last = len(item.parts) - 1
        for index, (operator, pipeline) in enumerate(item.parts):
            ahead = item.parts[index + 1][0] if index < last else ""
            asked = Context(is_asked=ahead == "||" or context.is_asked, is_checked=True) if ahead else context
            if operator and not ahead:
                asked = context
            states = _distinct(
                after
                for before in states
                for after in (
                    [before]
                    if before.flow or (operator and (before.status == 0) != (operator == "&&"))
                    else self._pipeline(pipeline, before, asked)
                )
            )
        return states

    def _pipeline(self, pipeline: Pipeline, state: State, context: Context) -> list[State]:
        inner = CONDITION if pipeline.negated else context
        compound = any(not isinstance(stage, Simple | Test) for stage in pipeline.stages)
        if pipeline.negated and compound and (state.errexit or state.on_error):
            raise UnsupportedError("bash runs the ERR trap in some compound commands after `!`")
        if len(pipeline.stages) == 1:
            states = self._command(pipeline.stages[0], state, inner)
        else:
            states = self._stages(pipeline, state, inner)
        if pipeline.negated:
            return [s if s.flow else s._replace(status=int(s.status == 0)) for s in states]
        single = pipeline.stages[0] if len(pipeline.stages) == 1 else None
        if context.is_checked or not (single is None or isinstance(single, Simple | Test | Group)):
            return states
        if isinstance(single, Group) and not single.subshell:
            return states
        return [after for state in states for after in self._failed(state)]

    def _stages(self, pipeline: Pipeline, state: State, context: Context) -> list[State]:
        """Returns the states after a pipe, whose stages run in subshells at the same time."""
        paths: list[tuple[State, tuple[Status, ...]]] = [(state, ())]
        last = len(pipeline.stages) - 1
        for index, stage in enumerate(pipeline.stages):
            asked = context if index == last else PLAIN._replace(is_checked=context.is_checked)
            paths = [
                (after, (*statuses, after.status))
                for before, statuses in paths
                for after in self.subshell(lambda inner, s=stage, a=asked: self._command(s, inner, a), before)  # type: ignore[misc]
            ]
            if len(paths) > _MOST_STATES:
                raise UnsupportedError("too many paths")
        return [
            state._replace(
                status=_of_pipe(statuses, state.pipefail), statuses=statuses, launches=end.launches, files=end.files
            )
            for end, statuses in paths
        ]

    def _failed(self, state: State) -> list[State]:
        """Returns the states after the ERR trap and `set -e`, if the last command has failed."""
        if state.flow or state.status == 0:
            return [state]
        if not state.on_error:
            return [state._replace(flow="exit") if state.errexit else state]
        found = list[State]()
        for after in self.sequence(parse(state.on_error), state._replace(on_error=""), PLAIN):
            after = after._replace(on_error=state.on_error, statuses=state.statuses)
            if not after.flow:
                after = after._replace(status=state.status, flow="exit" if state.errexit else "")
            found.append(after)
        return found

    def _count(self) -> None:
        self._steps += 1
        work.steps += 1
        if self._steps > _MOST_STEPS:
            raise UnsupportedError("too long")

    def _command(self, command: Command, state: State, context: Context) -> list[State]:
        self._count()
        match command:
            case Simple():
                return self._execute(self, command, state, context)
            case Test():
                return self._test(command, state)
            case Group(subshell=True):
                return _unpiped(self.subshell(lambda inner: self.sequence(command.body, inner, context), state))
            case Group():
                return _unpiped(self.sequence(command.body, state, context))
            case If():
                return _unpiped(self._if(command, state, context))
            case While():
                return _unpiped(self._while(command, state, context))
            case For():
                return _unpiped(self._for(command, state, context))
            case Case():
                return _unpiped(self._case(command, state, context))
            case Function():
                functions = {**state.functions, command.name: command.body}
                return [state._replace(functions=functions, status=0, statuses=())]

    def call(self, name: str, arguments: tuple[Value, ...], state: State, context: Context) -> list[State]:
        """Returns the states after a call of a function of the script."""
        if state.depth >= _DEEPEST:
            raise UnsupportedError("too deep")
        on_error = state.on_error if state.errtrace else ""
        inner = state._replace(arguments=arguments, depth=state.depth + 1, on_error=on_error, may_return=True)
        found = list[State]()
        for after in self._command(state.functions[name], inner, context):
            flow = "" if after.flow == "return" else after.flow
            after = after.shown()._replace(flow=flow, depth=state.depth, arguments=state.arguments, statuses=())
            after = after._replace(may_return=state.may_return)
            # A trap that the function sets stays; one that it does not see is not lost.
            found.append(after._replace(on_error=after.on_error or state.on_error))
        return found

    def _test(self, test: Test, state: State) -> list[State]:
        if test.arithmetic:
            result = values.arithmetic(test.words[0], state)
        elif any(word in ("&&", "||", "(", ")", "<", ">") for word in test.words):
            result = None
        else:
            result = values.test(tuple(values.expand(word, state) for word in test.words))
        return either(state, result)

    def _if(self, command: If, state: State, context: Context) -> list[State]:
        waiting, found = [state], list[State]()
        for condition, body in command.clauses:
            asked = [after for before in waiting for after in self.sequence(condition, before, CONDITION)]
            waiting = [after for after in asked if not after.flow and after.status != 0]
            for after in asked:
                if after.flow:
                    found.append(after)
                elif after.status == 0:
                    found += self.sequence(body, after, context)
        for before in waiting:
            if command.otherwise is None:
                found.append(before._replace(status=0))
            else:
                found += self.sequence(command.otherwise, before, context)
        return _distinct(found)

    def _while(self, command: While, state: State, context: Context) -> list[State]:
        """Follows a loop until it comes to no new states. A loop that never ends has no end to return."""
        found, seen = list[State](), set[object]()
        # The exit code of a loop is that of the last command of its body, 0 without one.
        waiting: list[tuple[State, Status]] = [(state, 0)]
        while waiting:
            before, last = waiting.pop()
            if (key := (before.key, last)) in seen:
                continue
            seen.add(key)
            if len(seen) > _MOST_STATES:
                raise UnsupportedError("too many paths")
            for asked in self.sequence(command.condition, before, CONDITION):
                if asked.flow:
                    found += _left(asked)
                elif (asked.status == 0) == command.until:
                    found.append(asked._replace(status=last))
                else:
                    for after in self.sequence(command.body, asked, context):
                        again = _continued(after)
                        if again is not None:
                            waiting.append((again, again.status))
                        else:
                            found += _left(after)
        return _distinct(found)

    def _for(self, command: For, state: State, context: Context) -> list[State]:
        known = _words_of_loop(command, state)
        found, states = list[State](), [state._replace(status=0)]
        for count in range(len(known) if known is not None else _ITERATIONS):
            if known is None:
                found += states
            value = known[count] if known is not None else None
            bodies = [s.set(command.name, value) if command.name else s for s in states]
            states = list[State]()
            for after in (a for before in bodies for a in self.sequence(command.body, before, context)):
                again = _continued(after)
                if again is not None:
                    states.append(again)
                else:
                    found += _left(after)
            states = _distinct(states)
        return _distinct((*found, *states))

    def _case(self, command: Case, state: State, context: Context) -> list[State]:
        value = values.expand(command.word, state)
        found, no_match = list[State](), True
        for patterns, body, end in command.branches:
            if end != ";;":
                raise UnsupportedError(end)
            matches = [_matches(value, pattern, state) for pattern in patterns]
            if not any(match is not False for match in matches):
                continue
            found += self.sequence(body, state._replace(status=0), context)
            if any(match is True for match in matches):
                no_match = False
                break
        if no_match:
            found.append(state._replace(status=0))
        return _distinct(found)


def _matches(value: Value, pattern: str, state: State) -> bool | None:
    if pattern == "*":
        return True
    expanded = values.expand(pattern, state)
    if not isinstance(expanded, str) or any(character in pattern for character in "*?[\\"):
        return None
    if value is FAILURE:
        return False if expanded == "0" else None
    return value == expanded if isinstance(value, str) else None


def _words_of_loop(command: For, state: State) -> tuple[Value, ...] | None:
    """Returns the values of a loop's variable; None if their number is not known."""
    words = command.words
    if words is None:
        return state.arguments if command.name else None
    if len(words) > _MOST_STATES or any(set("$`*?{[") & set(word.strip('"')) and not _is_one(word) for word in words):
        return None
    return tuple(values.expand(word, state) for word in words)


def _is_one(word: str) -> bool:
    """True if a word with `$` is one word for certain: it is in quotes."""
    return word.startswith('"') and word.endswith('"') and "@" not in word


def _of_pipe(statuses: tuple[Status, ...], pipefail: bool) -> Status:
    if not pipefail:
        return statuses[-1]
    return next((status for status in reversed(statuses) if status != 0), 0)


def _unpiped(states: list[State]) -> list[State]:
    """Returns states without PIPESTATUS, which bash sets in different ways after compound commands."""
    return [state._replace(statuses=()) for state in states]


def _continued(state: State) -> State | None:
    """Returns the state in which a loop goes on; None if it is left."""
    if not state.flow:
        return state
    if state.flow == "continue" and state.loops <= 1:
        return state._replace(flow="", loops=0)
    return None


def _left(state: State) -> list[State]:
    """Returns the state after a loop that is left."""
    if state.flow not in ("break", "continue"):
        return [state]
    if state.loops <= 1:
        return [state._replace(flow="", loops=0)]
    return [state._replace(loops=state.loops - 1)]


def _distinct(states: Iterator[State] | list[State] | tuple[State, ...]) -> list[State]:
    found = {state.key: state for state in states}
    if len(found) > _MOST_STATES:
        raise UnsupportedError("too many paths")
    return list(found.values())


def launched(state: State, launch: Launch) -> State:
    """Returns the state after a launcher has failed."""
    known = state.launches if launch in state.launches else (*state.launches, launch)
    return state.ends(FAILURE)._replace(launches=known)
