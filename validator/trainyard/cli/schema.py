"""`trainyard schema`."""

from __future__ import annotations

import click

HELP = """Print a JSON Schema: of the configuration, for editors, or of the JSON output, for programs.

\b
  trainyard schema > .trainyard.schema.json
  trainyard schema finding
"""


@click.command(name="schema", help=HELP)
@click.argument("what", type=click.Choice(["config", "finding"]), default="config")
def command(what: str) -> None:
    """Print a schema."""
    import json

    from validator import schemas

    click.echo(json.dumps(schemas.config() if what == "config" else schemas.finding(), indent=2))
