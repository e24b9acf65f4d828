"""Compiles templates to Python functions. Source: text/template/exec.go of Go 1.26.

A chart's templates run again and again with other values. A tree that is walked anew takes twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.origin import Origin
from gotemplate.syntax import (
    Action,
    Block,
    Branch,
    Call,
    Command,
    Jump,
    Loop,
    Node,
    Operand,
    Pipeline,
    Text,
)
from gotemplate.tracked import Value, Writer, derived_origin, first_origin

Function = Callable[[Sequence[Value]], Value]
_NULL = Value(None)


class Runner(Protocol):
    """The chart as a running template knows it: its functions, its other templates and its current reasons."""

    functions: dict[str, Function]
    # The values that decided whether the current text is written, outermost first.
    reasons: list[Origin]

    def render(self, name: str, data: Value) -> Value:
        """Returns the text of another template."""

    def failed(self, message: str, origin: Origin | None = None) -> FailedError:
        """Returns an error for the current template."""


class Frame:
    """A running template: its dot, its variables by their number, and the text that it has written.

    `jump` is the word that ends the current round of a loop, until the loop has seen it.
    """

    __slots__ = ("dot", "jump", "runner", "variables", "writer")

    def __init__(self, runner: Runner, data: Value, count: int) -> None:
        self.runner = runner
        self.dot = data
        self.jump = ""
        self.variables: list[Value] = [data] * count
        self.writer = Writer()


Evaluate = Callable[[Frame], Value]
Write = Callable[[Frame], None]


def run(block: Block, runner: Runner, data: Value) -> Value:
    """Returns the text of a template. Raises `FailedError` and `UnsupportedError`."""
    if block.program is None:
        block.program = _compiled(block.nodes)
    write, count = block.program
    frame = Frame(runner, data, count)
    write(frame)
    return frame.writer.text()


def _compiled(nodes: Sequence[Node]) -> tuple[Write, int]:
    compiler = _Compiler()
    return compiler.block(nodes), compiler.count


class _Compiler:
    """Numbers the variables of one template; `_names` are those in scope, the last declared at the end."""

    def __init__(self) -> None:
        self._names = [("$", 0)]
        self.count = 1

    def block(self, nodes: Sequence[Node]) -> Write:
        """Returns the function that writes nodes."""
        writes = tuple(self._node(node) for node in nodes)
        if len(writes) == 1:
            return writes[0]
        if any(map(_jumps, nodes)):
            return _until_jump(writes)

        def write(frame: Frame) -> None:
            for one in writes:
                one(frame)

        return write

    def _node(self, node: Node) -> Write:
        if isinstance(node, Text):
            text = node.text
            return lambda frame: frame.writer.literal(text)
        if isinstance(node, Action):
            return self._action(node)
        if isinstance(node, Branch):
            return self._branch(node)
        if isinstance(node, Loop):
            return self._loop(node)
        if isinstance(node, Jump):
            return _jump(node.word)
        return self._call(node)

    def _declared(self, name: str) -> int:
        self._names.append((name, self.count))
        self.count += 1
        return self.count - 1

    def _number(self, name: str) -> int | None:
        return next((number for declared, number in reversed(self._names) if declared == name), None)

    def _action(self, node: Action) -> Write:
        if node.variable:
            assigned = self._assigned(node)

            def assign(frame: Frame) -> None:
                assigned(frame)

            return assign
        evaluate = self.pipeline(node.pipeline)

        def write(frame: Frame) -> None:
            value = evaluate(frame)
            # Most actions write text.
            if value.data.__class__ is not str:
                value = frame.runner.functions["print"]((value,))
            frame.writer.write(value)

        return write

    def _assigned(self, node: Action) -> Evaluate:
        """Returns the function that evaluates an expression and assigns its value, if it names a variable."""
        evaluate = self.pipeline(node.pipeline)
        if not node.variable:
            return evaluate
        number = self._declared(node.variable) if node.is_new else self._number(node.variable)
        if number is None:
            return _unsupported(f"no variable {node.variable}")

        def assign(frame: Frame) -> Value:
            value = frame.variables[number] = evaluate(frame)
            return value

        return assign

    def _branch(self, node: Branch) -> Write:
        outer = len(self._names)
        condition = self._assigned(node.condition)
        inner = len(self._names)
        body = self.block(node.body)
        del self._names[inner:]
        otherwise = self.block(node.otherwise) if node.otherwise else None
        del self._names[outer:]
        is_with = node.is_with

        def write(frame: Frame) -> None:
            value = condition(frame)
            chosen = body if value.data else otherwise
            origin = derived_origin(value.source) if value.origin is not None or value.spans else None
            if origin is None and not is_with:
                if chosen is not None:
                    chosen(frame)
                return
            writer, reasons = frame.writer, frame.runner.reasons
            start, known, dot = writer.length, len(reasons), frame.dot
            if origin is not None:
                reasons.append(origin)
            try:
                if chosen is not None:
                    if is_with and chosen is body:
                        frame.dot = value
                    chosen(frame)
            finally:
                del reasons[known:]
                frame.dot = dot
            writer.mark(start, origin)

        return write

    def _loop(self, node: Loop) -> Write:
        found = self.pipeline(node.pipeline)
        outer = len(self._names)
        otherwise = self.block(node.otherwise)
        del self._names[outer:]
        numbers = [self._declared(name) for name in node.variables[::-1]]
        body = self.block(node.body)
        del self._names[outer:]

        def write(frame: Frame) -> None:
            value = found(frame)
            if not isinstance(value.data, dict | list | None):
                raise UnsupportedError("a loop over neither a list nor a mapping")
            if not value:
                otherwise(frame)
            origin, begin = value.origin, frame.writer.length
            for key, item in value.items():
                _repeat(frame, body, numbers, origin, key, item)
                if frame.jump:
                    word, frame.jump = frame.jump, ""
                    if word == "break":
                        break
            is_mapping = isinstance(value.data, dict)
            frame.writer.mark(begin, origin and Origin(origin.path, named=is_mapping and origin.exact))

        return write

    def _call(self, node: Call) -> Write:
        evaluate = self.pipeline(node.pipeline) if node.pipeline is not None else lambda _: _NULL
        name = node.name

        def write(frame: Frame) -> None:
            frame.writer.write(frame.runner.render(name, evaluate(frame)))

        return write

    def pipeline(self, pipeline: Pipeline) -> Evaluate:
        """Returns the function that evaluates an expression."""
        evaluate: Evaluate | None = None
        for command in pipeline.commands:
            evaluate = self._command(command, evaluate)
        return evaluate or (lambda _: _NULL)

    def _command(self, command: Command, given: Evaluate | None) -> Evaluate:
        """Returns the function that evaluates a command; its last argument is what `given` returns."""
        first, *others = command
        operands = [self._operand(operand) for operand in others]
        if first.kind == "function" and first.value in ("and", "or"):
            return _chosen(first.value == "and", operands, given)
        arguments = _arguments(operands, given)
        if first.kind == "function":
            return _called(first.value, arguments)
        evaluate = self._operand(first)
        # Only a field holds a function.
        return _called_value(evaluate, arguments) if others or given or first.fields else evaluate

    def _operand(self, operand: Operand) -> Evaluate:
        return _with_fields(self._base(operand), operand.fields, is_dot=operand.kind == "dot")

    def _base(self, operand: Operand) -> Evaluate:
        if operand.kind == "literal":
            literal: Value = operand.value
            return lambda _: literal
        if operand.kind == "function":
            return self._command((operand._replace(fields=()),), None)
        if operand.kind == "dot":
            return lambda frame: frame.dot
        if operand.kind == "variable":
            number = self._number(operand.value)
            return _unsupported(f"no variable {operand.value}") if number is None else _variable(number)
        return self.pipeline(operand.value)


def _jumps(node: Node) -> bool:
    """True if a node may end a round of the loop around it."""
    if isinstance(node, Branch):
        return any(map(_jumps, (*node.body, *node.otherwise)))
    # The body of another loop ends its own rounds.
    return any(map(_jumps, node.otherwise)) if isinstance(node, Loop) else isinstance(node, Jump)


def _jump(word: str) -> Write:
    def write(frame: Frame) -> None:
        frame.jump = word

    return write


def _until_jump(writes: Sequence[Write]) -> Write:
    """Returns the function that writes nodes until one of them ends the round."""

    def write(frame: Frame) -> None:
        for one in writes:
            one(frame)
            if frame.jump:
                return

    return write


def _repeat(frame: Frame, body: Write, numbers: Sequence[int], origin: Origin | None, key: Any, item: Value) -> None:
    """Runs the body of a loop over the value at `origin`, for one of its items."""
    own = item.origin if origin is None else Origin((*origin.path, key))
    whole = own and Origin(own.path, whole=origin is not None and origin.exact)
    at = origin and Origin((*origin.path, key), origin.exact, on_key=True)
    named = Value(key, at if isinstance(key, str) else None)
    for number, value in zip(numbers, (item, named), strict=False):
        frame.variables[number] = value
    reasons, dot, start = frame.runner.reasons, frame.dot, frame.writer.length
    known = len(reasons)
    if own is not None:
        reasons.append(own)
    frame.dot = item
    try:
        body(frame)
    finally:
        del reasons[known:]
        frame.dot = dot
    frame.writer.mark(start, whole)


def _variable(number: int) -> Evaluate:
    return lambda frame: frame.variables[number]


def _unsupported(message: str) -> Evaluate:
    def evaluate(_: Frame) -> Value:
        raise UnsupportedError(message)

    return evaluate


def _arguments(operands: Sequence[Evaluate], given: Evaluate | None) -> Callable[[Frame], tuple[Value, ...]]:
    """Returns the function that evaluates the arguments of a command."""
    if given is not None:
        return lambda frame: _piped(given(frame), operands, frame)
    if len(operands) == 1:
        (only,) = operands
        return lambda frame: (only(frame),)
    if len(operands) == 2:
        first, second = operands
        return lambda frame: (first(frame), second(frame))
    return lambda frame: tuple([operand(frame) for operand in operands])


def _piped(last: Value, operands: Sequence[Evaluate], frame: Frame) -> tuple[Value, ...]:
    return (*[operand(frame) for operand in operands], last)


def _called(name: str, arguments_of: Callable[[Frame], tuple[Value, ...]]) -> Evaluate:
    def evaluate(frame: Frame) -> Value:
        runner = frame.runner
        function = runner.functions.get(name)
        if function is None:
            raise UnsupportedError(f"function {name}")
        arguments = arguments_of(frame)
        try:
            return function(arguments)
        except FailedError as error:
            error.origin = error.origin or (runner.reasons[-1] if runner.reasons else None)
            raise
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            # Where Go's function rejects an argument, it fails for the value as ours does.
            reason = f"{name} got an invalid argument: {error}"
            raise runner.failed(reason, first_origin(arguments)) from error

    return evaluate


def _called_value(evaluate: Evaluate, arguments_of: Callable[[Frame], tuple[Value, ...]]) -> Evaluate:
    """Returns the function that calls a method, such as `.Files.Get`, with arguments."""

    def call(frame: Frame) -> Value:
        value, arguments = evaluate(frame), arguments_of(frame)
        if callable(value.data):
            return Value(value.data(*(argument.plain() for argument in arguments)))
        if arguments:
            raise UnsupportedError("arguments for a value that is not a function")
        return value

    return call


def _chosen(is_and: bool, operands: Sequence[Evaluate], given: Evaluate | None) -> Evaluate:
    """Returns the function of `and` or `or`. Like Go, it evaluates only the arguments that it needs."""
    evaluates = [*operands, given] if given is not None else operands

    def evaluate(frame: Frame) -> Value:
        value = _NULL
        for one in evaluates:
            value = one(frame)
            if bool(value.data) != is_and:
                break
        return value

    return evaluate


def _with_fields(evaluate: Evaluate, fields: Sequence[str], *, is_dot: bool) -> Evaluate:
    """Returns the function that reads fields of a value, one of another.

    In Go a variable or a value in parentheses that is null has any field, which is null: `(.Values.a).b` needs no `a`.
    """
    if not fields:
        return evaluate

    def read(frame: Frame) -> Value:
        value = evaluate(frame)
        if not is_dot and value.data is None:
            return value
        for field in fields:
            data = value.data
            if data is None:
                raise frame.runner.failed(f"{field} is read from an empty value", value.origin)
            if not isinstance(data, dict):
                raise UnsupportedError(f"field {field} of a value that is not a mapping")
            value = value.item(field)
        return value

    return read
