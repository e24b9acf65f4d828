"""Executes templates. Source: text/template/exec.go of Go 1.26, pkg/engine of Helm 3."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gotemplate.origin import Origin
from gotemplate.syntax import (
    Action,
    Branch,
    Call,
    Command,
    Definitions,
    Loop,
    Node,
    Operand,
    Pipeline,
    Text,
    UnsupportedError,
    parse,
)
from gotemplate.tracked import Span, Value, Writer, derived_origin, first_origin

if TYPE_CHECKING:
    from collections.abc import Iterator

Function = Callable[[Sequence[Value]], Value]
_DEEPEST = 100


class FailedError(Exception):
    """A template failed for these values. `origin` is the value that caused it, if known."""

    def __init__(self, message: str, origin: Origin | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.origin = origin


class Templates:
    """The templates of a chart, by name, and the functions that they may call beside `include`.

    `roots` are the top-level contexts of charts: most helpers take one of them and are called again and again.
    """

    def __init__(
        self, definitions: Definitions, functions: Mapping[str, Function], roots: Iterable[Value] = ()
    ) -> None:
        self._definitions = definitions
        self._functions: dict[str, Function] = {**functions, "include": self._include, "tpl": self._tpl}
        # The values that decided whether the current text is written, outermost first.
        self._reasons: list[Origin] = []
        self._depth = 0
        # Cache of texts rendered from a chart's top-level context, by name and identity of the context.
        self._known: dict[tuple[str, int], Value] = {}
        self._roots = {id(root.data): root for root in roots}

    def render(self, name: str, data: Value) -> Value:
        """Returns the text of a template. Raises `FailedError` and `UnsupportedError`."""
        if id(data.data) not in self._roots:
            return self._render(name, data)
        known = self._known.get((name, id(data.data)))
        if known is None:
            known = self._known[name, id(data.data)] = self._render(name, data)
        return known

    def _include(self, args: Sequence[Value]) -> Value:
        return self.render(str(args[0].data), args[1])

    def _tpl(self, args: Sequence[Value]) -> Value:
        """Renders the template in a value. Templates that it defines stay within it."""
        text, data = args
        if not isinstance(text.data, str):
            raise UnsupportedError("tpl of a value that is not a string")
        if "{{" not in text.data:
            return text
        outer = self._definitions
        self._definitions = dict(outer)
        try:
            made = self._filled("tpl", parse(text.data, self._definitions), data)
        finally:
            self._definitions = outer
        origin = derived_origin(text.source)
        return made if origin is None else made._replace(spans=(*made.spans, Span(0, len(made.data), origin)))

    def _render(self, name: str, data: Value) -> Value:
        nodes = self._definitions.get(name)
        if nodes is None:
            raise UnsupportedError(f"no template {name}")
        return self._filled(name, nodes, data)

    def _filled(self, name: str, nodes: Sequence[Node], data: Value) -> Value:
        if self._depth > _DEEPEST:
            raise UnsupportedError(f"{name} calls itself")
        writer = Writer()
        self._depth += 1
        try:
            self._write(nodes, _Scope(data), writer)
        finally:
            self._depth -= 1
        return writer.text()

    def failed(self, message: str, origin: Origin | None = None) -> FailedError:
        """Returns an error for the current template."""
        return FailedError(message, origin or self._reason())

    def _reason(self) -> Origin | None:
        return self._reasons[-1] if self._reasons else None

    def _write(self, nodes: Sequence[Node], scope: _Scope, writer: Writer) -> None:
        for node in nodes:
            if isinstance(node, Text):
                writer.literal(node.text)
            elif isinstance(node, Action):
                self._act(node, scope, writer)
            elif isinstance(node, Branch):
                self._branch(node, scope, writer)
            elif isinstance(node, Loop):
                self._loop(node, scope, writer)
            else:
                self._call(node, scope, writer)

    def _act(self, node: Action, scope: _Scope, writer: Writer) -> None:
        value = self._assigned(node, scope)
        if not node.variable:
            writer.write(self._functions["print"]((value,)))

    def _assigned(self, node: Action, scope: _Scope) -> Value:
        value = self.evaluate(node.pipeline, scope)
        if node.is_new:
            scope.declare(node.variable, value)
        elif node.variable:
            scope.assign(node.variable, value)
        return value

    def _branch(self, node: Branch, scope: _Scope, writer: Writer) -> None:
        with scope.block():
            condition = self._assigned(node.condition, scope)
            origin = derived_origin(condition.source)
            start = writer.length
            with self._decided_by(origin):
                if condition:
                    with scope.dot(condition if node.is_with else None):
                        self._write(node.body, scope, writer)
                else:
                    self._write(node.otherwise, scope, writer)
            writer.mark(start, origin)

    def _loop(self, node: Loop, scope: _Scope, writer: Writer) -> None:
        found = self.evaluate(node.pipeline, scope)
        origin, begin = found.origin, writer.length
        if not isinstance(found.data, dict | list | None):
            raise UnsupportedError("a loop over neither a list nor a mapping")
        if not found:
            self._write(node.otherwise, scope, writer)
        for key, item in found.items():
            own = item.origin if origin is None else Origin((*origin.path, key))
            whole = own and Origin(own.path, whole=origin is not None and origin.exact)
            start = writer.length
            with scope.block(), self._decided_by(own), scope.dot(item):
                at = origin and Origin((*origin.path, key), origin.exact, on_key=True)
                named = Value(key, at if isinstance(key, str) else None)
                for name, value in zip(node.variables[::-1], (item, named), strict=False):
                    scope.declare(name, value)
                self._write(node.body, scope, writer)
            writer.mark(start, whole)
        is_mapping = isinstance(found.data, dict)
        writer.mark(begin, origin and Origin(origin.path, named=is_mapping and origin.exact))

    def _call(self, node: Call, scope: _Scope, writer: Writer) -> None:
        data = self.evaluate(node.pipeline, scope) if node.pipeline is not None else Value(None)
        writer.write(self.render(node.name, data))

    @contextmanager
    def _decided_by(self, origin: Origin | None) -> Iterator[None]:
        count = len(self._reasons)
        if origin is not None:
            self._reasons.append(origin)
        try:
            yield
        finally:
            del self._reasons[count:]

    def evaluate(self, pipeline: Pipeline, scope: _Scope) -> Value:
        """Returns the value of an expression."""
        value: Value | None = None
        for command in pipeline.commands:
            value = self._command(command, scope, () if value is None else (value,))
        return Value(None) if value is None else value

    def _command(self, command: Command, scope: _Scope, given: tuple[Value, ...]) -> Value:
        first, *others = command
        if first.kind == "function":
            if first.value in ("and", "or"):
                return self._chosen(first.value == "and", [*others, *given], scope)
            function = self._functions.get(first.value)
            if function is None:
                raise UnsupportedError(f"function {first.value}")
            arguments = (*(self._operand(operand, scope) for operand in others), *given)
            try:
                return function(arguments)
            except FailedError as error:
                error.origin = error.origin or self._reason()
                raise
            except (TypeError, AttributeError, LookupError, ValueError) as error:
                # Where Go's function rejects an argument, it fails for the value as ours does.
                reason = f"{first.value} got an invalid argument: {error}"
                raise self.failed(reason, first_origin(arguments)) from error
        value = self._operand(first, scope)
        arguments = (*(self._operand(operand, scope) for operand in others), *given)
        if callable(value.data):
            return Value(value.data(*(argument.plain() for argument in arguments)))
        if arguments:
            raise UnsupportedError("arguments for a value that is not a function")
        return value

    def _chosen(self, is_and: bool, operands: Sequence[Operand | Value], scope: _Scope) -> Value:
        """Returns the result of `and` or `or`. Like Go, it evaluates only the arguments that it needs."""
        value = Value(None)
        for operand in operands:
            value = operand if isinstance(operand, Value) else self._operand(operand, scope)
            if bool(value) != is_and:
                break
        return value

    def _operand(self, operand: Operand, scope: _Scope) -> Value:
        if operand.kind == "literal":
            literal: Value = operand.value
            return literal
        if operand.kind == "function":
            return self._command((operand._replace(fields=()),), scope, ())
        if operand.kind == "dot":
            value = scope.data
        elif operand.kind == "variable":
            value = scope.variable(operand.value)
        else:
            value = self.evaluate(operand.value, scope)
        for field in operand.fields:
            if value.data is None:
                raise self.failed(f"{field} is read from an empty value", value.origin)
            if not isinstance(value.data, dict):
                raise UnsupportedError(f"field {field} of a value that is not a mapping")
            value = value.item(field)
        return value


class _Scope:
    """Variables and the dot."""

    def __init__(self, data: Value) -> None:
        self.data = data
        self._variables: list[tuple[str, Value]] = [("$", data)]

    def declare(self, name: str, value: Value) -> None:
        self._variables.append((name, value))

    def assign(self, name: str, value: Value) -> None:
        self._variables[self._index(name)] = (name, value)

    def variable(self, name: str) -> Value:
        return self._variables[self._index(name)][1]

    def _index(self, name: str) -> int:
        for index in range(len(self._variables) - 1, -1, -1):
            if self._variables[index][0] == name:
                return index
        raise UnsupportedError(f"no variable {name}")

    @contextmanager
    def block(self) -> Iterator[None]:
        """Context manager: ends the scope of variables that are declared within it."""
        count = len(self._variables)
        yield
        del self._variables[count:]

    @contextmanager
    def dot(self, data: Value | None) -> Iterator[None]:
        """Context manager: sets another dot, unless it is None."""
        outer = self.data
        self.data = data if data is not None else outer
        yield
        self.data = outer
