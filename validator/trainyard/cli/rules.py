"""`trainyard rules`."""

from __future__ import annotations

import click

HELP = """List all rules: code, name, severity, strictness, kind of fix, and summary.

\b
  trainyard rules | grep nccl
  trainyard rules --output-format json
"""


@click.command(name="rules", help=HELP)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Format.")
def command(output_format: str) -> None:
    """Prints all rules."""
    from trainyard.engine import registry

    known = registry.rules()
    if output_format == "json":
        import json

        from trainyard.reporters.json import rule_facts

        click.echo(json.dumps([rule_facts(rule) for rule in known], indent=2))
        return
    width = max(len(rule.name) for rule in known)
    for rule in known:
        title = registry.page(rule).split("\n", 1)[0]
        click.echo(
            f"{rule.code}  {rule.name:{width}}  {rule.severity:7}  {rule.persona:8}  {rule.fix or '-':6}  {title}"
        )
