"""`trainyard schema`."""

from __future__ import annotations

from typing import Any

import click

HELP = """Print a JSON Schema: of the configuration, of the JSON output, or of values, for editors and programs.

\b
  trainyard schema > .trainyard.schema.json
  trainyard schema finding
  trainyard schema run > run.schema.json        values of charts/training-job
  trainyard schema site > site.schema.json      values of charts/training-platform

An editor with the YAML language server then completes and checks a file with this first line:

\b
  # yaml-language-server: $schema=run.schema.json

Exit codes: 0 printed, 2 wrong usage.
"""


@click.command(name="schema", help=HELP)
@click.argument("what", type=click.Choice(["config", "finding", "run", "site"]), default="config")
def command(what: str) -> None:
    """Prints a schema."""
    import json

    click.echo(json.dumps(_schema(what), indent=2))


def _schema(what: str) -> Any:
    if what == "config":
        from trainyard.linting import config_schema

        return config_schema.configuration_schema()
    if what == "finding":
        from trainyard.reporters import json_schema

        return json_schema.report_schema()
    if what == "run":
        from trainyard.loaders.training_job.chart import schema_text

        return schema_text()
    from trainyard.loaders.known.charts import site_schema

    return site_schema()
