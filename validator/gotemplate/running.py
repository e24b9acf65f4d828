"""Runs the templates of a chart. Source: pkg/engine of Helm 3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gotemplate import programs
from gotemplate.errors import FailedError, UnsupportedError
from gotemplate.origin import Origin
from gotemplate.programs import Function
from gotemplate.syntax import Block, Definitions, parse
from gotemplate.tracked import Span, Value, derived_origin

_DEEPEST = 100


class Templates:
    """The templates of a chart, by name, and the functions that they may call beside `include`.

    `roots` are the top-level contexts of charts: most helpers take one of them and are called again and again.
    """

    def __init__(
        self, definitions: Definitions, functions: Mapping[str, Function], roots: Iterable[Value] = ()
    ) -> None:
        self._definitions = definitions
        self.functions: dict[str, Function] = {**functions, "include": self._include, "tpl": self._tpl}
        # The values that decided whether the current text is written, outermost first.
        self.reasons: list[Origin] = []
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
        block = self._definitions.get(name)
        if block is None:
            raise UnsupportedError(f"no template {name}")
        return self._filled(name, block, data)

    def _filled(self, name: str, block: Block, data: Value) -> Value:
        if self._depth > _DEEPEST:
            raise UnsupportedError(f"template {name}, which calls itself")
        self._depth += 1
        try:
            return programs.run(block, self, data)
        finally:
            self._depth -= 1

    def failed(self, message: str, origin: Origin | None = None) -> FailedError:
        """Returns an error for the current template."""
        return FailedError(message, origin or (self.reasons[-1] if self.reasons else None))
