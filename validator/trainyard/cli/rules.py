"""`trainyard rules`."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from trainyard.cli import output
from trainyard.cli.options import load_configuration
from trainyard.linting.exit_codes import CLEAN, FINDINGS
from trainyard.reporters.escaping import visible

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule
    from trainyard.linting.config import Config

HELP = """List rules: code, name, severity, strictness, kind of fix, and summary.

WORDS select the rules whose code, name or summary contains all of them. The checks of the configuration are rules
of the family `checks`. With --check their cases run: each bad case must be reported, and no good one.

\b
  trainyard rules
  trainyard rules shared memory
  trainyard rules --family nccl
  trainyard rules --output-format json
  trainyard rules --check                      test the checks of the configuration

Exit codes: 0, 1 if a case of --check fails, 2 wrong usage or configuration.
"""

_NONE = "The configuration has no checks; `checks` of .trainyard.yaml holds them."
# The narrowest text beside the columns before it.
_NARROW = 40


def _families(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from trainyard.engine import registry

    known = {_family(rule) for rule in registry.rules()}
    return sorted(name for name in known if name.startswith(incomplete))


@click.command(name="rules", help=HELP)
@click.argument("words", nargs=-1)
@click.option(
    "--family", metavar="NAME", shell_complete=_families, help="List only the rules of one family, such as `nccl`."
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Format.")
@click.option("--check", "checking", is_flag=True, help="Run the cases of the checks in the configuration.")
def command(words: tuple[str, ...], family: str | None, output_format: str, checking: bool) -> int:
    """Prints the rules, or tests the checks among them."""
    from trainyard.engine import registry

    config = _configuration(checking=checking)
    if checking:
        return _test(config)
    known = _selected(words, family, (*registry.rules(), *config.check_rules))
    if output_format == "json":
        import json

        from trainyard.reporters.json import rule_facts

        click.echo(json.dumps([rule_facts(rule) for rule in known], indent=2))
        return CLEAN
    for line in _lines(known, shutil.get_terminal_size((100, 24)).columns):
        click.echo(line)
    return CLEAN


def _configuration(*, checking: bool) -> Config:
    """Returns the configuration. If it is wrong, the list of the other rules is still of use."""
    from trainyard.document.errors import MistakeError
    from trainyard.linting.config import Config

    try:
        return load_configuration()
    except MistakeError as error:
        if checking:
            raise
        output.say(f"note: without the checks of the configuration: {error}")
        return Config()


def _test(config: Config) -> int:
    from trainyard.counting import counted
    from trainyard.linting import check_cases

    results = check_cases.run(config)
    for result in results:
        click.echo(visible(result.line))
    failed = sum(result.fault is not None for result in results)
    cases = counted(sum(result.cases for result in results), "case")
    ending = f"{failed} failed" if failed else "all passed"
    click.echo(f"{cases} of {counted(len(config.checks), 'check')}, {ending}." if results else _NONE)
    return FINDINGS if failed else CLEAN


def _selected(words: Sequence[str], family: str | None, known: Sequence[Rule]) -> list[Rule]:
    from trainyard.engine.selection import nearest

    families = sorted({_family(rule) for rule in known})
    if family is not None and family not in families:
        hint = nearest(family, families) or f"write one of {', '.join(families)}"
        raise click.UsageError(f"--family: there is no family `{family}`; {hint}")
    found = [rule for rule in known if family in (None, _family(rule)) and _contains(rule, words)]
    if not found:
        raise click.UsageError(f"no rule contains `{' '.join(words)}`; `trainyard rules` lists all")
    return found


def _family(rule: Rule) -> str:
    return rule.module.split(".")[-2]


def _contains(rule: Rule, words: Sequence[str]) -> bool:
    if not words:
        return True
    text = f"{rule.code} {rule.name} {_title(rule)}".lower()
    return all(word.lower() in text for word in words)


def _title(rule: Rule) -> str:
    from trainyard.engine import registry

    return registry.page(rule).split("\n", 1)[0]


def _lines(rules: Sequence[Rule], columns: int) -> Iterator[str]:
    """Yields a table; where the summary has no room beside the other columns, it stands below them."""
    width = max(len(rule.name) for rule in rules)
    for rule in rules:
        row = f"{rule.code}  {rule.name:{width}}  {rule.severity:7}  {rule.persona:8}  {rule.fix or '-':6}"
        if columns - len(row) - 2 >= _NARROW:
            first, *others = textwrap.wrap(_title(rule), columns - len(row) - 2)
            yield f"{row}  {first}"
            yield from (" " * (len(row) + 2) + line for line in others)
        else:
            yield row.rstrip()
            yield from textwrap.wrap(_title(rule), columns, initial_indent=" " * 7, subsequent_indent=" " * 7)
