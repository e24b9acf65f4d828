"""A check: its definition in the configuration, and the rule that it becomes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.checks.expressions import Expression, ExpressionError
from trainyard.checks.values import TYPES, VARIABLES, kind_of, name_of, values
from trainyard.document.document import Place
from trainyard.document.source import Path
from trainyard.engine.rule import Context, Problem, Rule, Severity


class Case(NamedTuple):
    """An example of a check: `text` holds manifests, `at` is its place in the configuration."""

    text: str
    bad: bool
    name: str
    where: str


class Match(NamedTuple):
    """The objects that a check judges; empty fields match all. A kind may have its group, as in `Job.batch`."""

    kinds: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()

    def covers(self, api_version: str, kind: str, namespace: str) -> bool:
        """True if an object is judged. A namespace that no file states does not exclude it."""
        group = api_version.rpartition("/")[0]
        kinds = not self.kinds or kind in self.kinds or f"{kind}.{group}" in self.kinds
        return kinds and (not self.namespaces or not namespace or namespace in self.namespaces)


class Check(NamedTuple):
    """A check as the user wrote it. `where` is its place in the configuration, with the file and the line."""

    code: str
    name: str
    severity: Severity
    subject: str
    expression: str
    message: str
    message_expression: str
    help: str
    link: str
    description: str
    match: Match
    at: Path
    at_text: str
    cases: tuple[Case, ...]
    where: str
    source: str

    @property
    def page(self) -> str:
        """The documentation of the check in Markdown, with everything that its findings depend on."""
        parts = [
            self.description or self.message,
            f"The expression over each {self.subject} is true for a correct one:",
            textwrap.indent(self.expression.strip(), "    "),
            f"Message: {self.message_expression or self.message}",
            f"Help: {self.help}" if self.help else "",
            f"Kinds: {', '.join(self.match.kinds)}" if self.match.kinds else "",
            f"Namespaces: {', '.join(self.match.namespaces)}" if self.match.namespaces else "",
            f"Place: {self.at_text}" if self.at_text else "",
        ]
        return "\n\n".join(part for part in parts if part)


class Judge:
    """The compiled expressions of a check. `judged` counts the things that were judged."""

    def __init__(self, check: Check) -> None:
        """Compiles the expressions. Raises `ExpressionError` with the key that is wrong."""
        self._check = check
        self._variables = VARIABLES[check.subject]
        self._condition = self._compiled("expression", check.expression, "bool")
        written = check.message_expression
        self._message = self._compiled("messageExpression", written, "string") if written else None
        self.judged = 0

    def __call__(self, thing: Any, context: Context) -> Iterator[Problem]:
        """Yields a problem if the expression is false for a thing. Raises `ExpressionError`."""
        check = self._check
        namespace = getattr(thing if check.subject == "object" else context.run or thing, "namespace", "")
        if not check.match.covers(*kind_of(thing, context), namespace):
            return
        self.judged += 1
        data = values(check.subject, thing, context)
        if self._evaluated(self._condition, "expression", data, thing, context):
            return
        message = check.message
        if self._message is not None:
            message = self._evaluated(self._message, "messageExpression", data, thing, context)
        at: Place = thing.at
        yield Problem(at.child(*check.at), message, check.help)

    def _compiled(self, key: str, text: str, result: str) -> Expression:
        try:
            return Expression(text, self._variables, result)
        except ExpressionError as error:
            raise ExpressionError(f"{self._check.where}.{key}: {error}") from None

    def _evaluated(self, expression: Expression, key: str, data: dict[str, Any], thing: Any, context: Context) -> Any:
        try:
            return expression.evaluate(data)
        except ExpressionError as error:
            position = thing.at.document.locate(thing.at)
            place = f"{name_of(thing, context)} at {position.source.name}:{position.line}"
            raise ExpressionError(
                f"{self._check.where}.{key}: `{self._check.name}` failed for {place}: {error}"
            ) from None


def rule_of(check: Check, judge: Judge | None = None) -> Rule:
    """Returns the rule that a check becomes. Raises `ExpressionError`."""
    return Rule(
        code=check.code,
        name=check.name,
        severity=check.severity,
        confidence="high",
        since="",
        sources=(check.source,),
        subject=TYPES[check.subject],
        check=judge or Judge(check),
        module=f"checks.{check.name}",
        needs=tuple(kind.partition(".")[0] for kind in check.match.kinds),
        page=check.page,
        link=check.link,
    )
