"""`trainyard explain`."""

from __future__ import annotations

import click

from trainyard.cli.options import RULE, load_configuration

HELP = """Show a rule's page: the fact behind it, its sources and what to write instead.

\b
  trainyard explain NC005
  trainyard explain nccl-word-boolean

A check of the configuration is a rule as well.

Exit codes: 0 shown, 2 wrong usage, or no such rule.
"""


@click.command(name="explain", help=HELP)
@RULE
def command(rule: str) -> None:
    """Prints the page of a rule."""
    from trainyard.engine import registry, selection
    from trainyard.reporters import explanation

    found = registry.find_rule(rule) or selection.find_one(rule, load_configuration().check_rules)
    click.echo(f"{found.code} {found.name}\n")
    click.echo(f"{registry.page(found)}\n")
    for name, value in explanation.facts(found):
        click.echo(f"{name:<11} {value}")
