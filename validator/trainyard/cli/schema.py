"""`trainyard schema`."""

from __future__ import annotations

import click

HELP = """Print a JSON Schema: of the configuration file, for editors, or of the JSON output, for programs.

\b
  trainyard schema > .trainyard.schema.json
  trainyard schema finding
"""


@click.command(name="schema", help=HELP)
@click.argument("what", type=click.Choice(["config", "finding"]), default="config")
def command(what: str) -> None:
    """Prints a schema."""
    import json

    from trainyard.linting import config_schema
    from trainyard.reporters import json_schema

    click.echo(
        json.dumps(config_schema.configuration_schema() if what == "config" else json_schema.report_schema(), indent=2)
    )
