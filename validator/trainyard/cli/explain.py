"""`trainyard explain`."""

from __future__ import annotations

import click

from trainyard.cli.options import RULE

HELP = """Show a rule's page: the fact behind it, its sources and what to write instead.

\b
  trainyard explain NC005
  trainyard explain nccl-word-boolean
"""


@click.command(name="explain", help=HELP)
@RULE
def command(rule: str) -> None:
    """Prints the page of a rule."""
    from trainyard.engine import links, parameters, registry, selection

    found = selection.find_one(rule)
    fix = {"safe": "`trainyard fix` corrects it", "unsafe": "`trainyard fix --unsafe` corrects it", None: "by hand"}
    when = {"regular": "always", "pedantic": "with --pedantic", "auditor": "with --auditor"}
    click.echo(f"{found.code} {found.name}\n")
    click.echo(f"{registry.page(found)}\n")
    click.echo(f"severity    {found.severity}, confidence {found.confidence}")
    click.echo(f"on          {when[found.persona]}")
    if found.of_profile or found.of_site:
        click.echo(f"needs       {'--profile NAME' if found.of_profile else '--site FILE'}")
    click.echo(f"fix         {fix[found.fix]}")
    click.echo(f"since       {found.since}")
    for name, default in parameters.default_parameters(found).items():
        shown = list(default) if isinstance(default, tuple) else default
        click.echo(f"parameter   rules.{found.code}.{name.replace('_', '-')}: {shown}")
    click.echo(f"page        {links.rule_url(found)}")
    for source in found.sources:
        click.echo(f"source      {source}")
