"""`python -m tools.recall`: the share of the mistakes from public issues that a default `trainyard lint` finds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tests.validator.field import measuring, reading
from tests.validator.field.measuring import Result
from tools.recall import table
from trainyard.engine.finding import Finding

console = Console(soft_wrap=True)


def command(
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables of the documentation.")] = False,
) -> None:
    """Lint every case of tests/validator/field, and compare the findings with the mistakes of the cases.

    All findings beside the mistakes are listed, for a person who judges them: they are new mistakes or false alarms.
    """
    results = list(measuring.measure(map(reading.load, reading.paths())))
    if as_markdown:
        console.print("\n".join(table.page(results)), markup=False)
        return
    _show("class", table.rows(results, lambda case: case.group))
    _show("project", table.rows(results, lambda case: case.project))
    console.print("[bold]missed[/]")
    for result in results:
        if not result.found and not result.case.out_of_reach:
            console.print(f"{result.case.name} ({result.case.group}): {result.case.mistake}", markup=False)
    console.print("[bold]other findings[/]")
    for result in results:
        for finding in result.others:
            console.print(_described(result, finding), markup=False)


def _show(first: str, rows: Iterable[tuple[str, ...]]) -> None:
    shown = Table(first, *table.COLUMNS)
    for row in rows:
        shown.add_row(*row)
    console.print(shown)


def _described(result: Result, finding: Finding) -> str:
    rule, line = finding.rule, finding.position.line
    return f"{result.case.name}:{line}: {rule.severity} {rule.code} {rule.name}: {finding.message}"


if __name__ == "__main__":
    typer.run(command)
