"""`trainyard policy`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trainyard.cli import output
from trainyard.cli.options import load_configuration, rule_names

if TYPE_CHECKING:
    from trainyard.commands.policies.policy import Options, Policy
    from trainyard.engine.rule import Rule
    from trainyard.linting.config import Config

HELP = """Print rules as ValidatingAdmissionPolicies, so that an API server refuses what the linter finds.

A policy sees one object and nothing beside it. So only rules that need a single object become policies: some about
jobs, pods and network objects, and checks of the configuration over objects. The linter alone checks scripts and
ConfigMaps.

\b
  trainyard policy > policies.yaml
  trainyard policy --action Warn
  trainyard policy --select nccl-word-boolean,elastic-bounds --prefix ml-platform-
  trainyard policy --namespace-selector training=yes --except-namespace kube-system
  trainyard policy | kubectl apply --filename -

Without --action, an API server refuses objects with an error and warns of the others. A job is judged when it is
created; pods of a controller are judged as a part of its object. An expression that fails refuses nothing.

Exit codes: 0 printed, 2 wrong usage or configuration, or no rule of the selection is a policy.
"""
ACTIONS = ("Deny", "Warn", "Audit")


@click.command(name="policy", help=HELP)
@click.option(
    "--select",
    multiple=True,
    metavar="RULE",
    shell_complete=rule_names,
    help="Print only these rules and checks: codes, code prefixes or names, separated by commas. Repeatable.",
)
@click.option(
    "--ignore", multiple=True, metavar="RULE", shell_complete=rule_names, help="Leave out these, in the same form."
)
@click.option("--pedantic", is_flag=True, help="Also print rules that advise, and rules of medium confidence.")
@click.option(
    "--action",
    "actions",
    multiple=True,
    type=click.Choice(ACTIONS),
    help="Reaction of the API server to a faulty object. Repeatable; Deny and Warn exclude each other.",
)
@click.option("--prefix", metavar="TEXT", default="trainyard-", show_default=True, help="Start of the names.")
@click.option(
    "--namespace-selector",
    "labels",
    multiple=True,
    metavar="KEY=VALUE",
    help="Judge only namespaces with this label. Repeatable.",
)
@click.option(
    "--except-namespace",
    "except_namespaces",
    multiple=True,
    metavar="NAME",
    help="Judge nothing in this namespace. Repeatable.",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Configuration file. Default: .trainyard.yaml or pyproject.toml in this folder or above.",
)
def command(
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    pedantic: bool,
    config_file: Path | None,
    **options: Any,
) -> None:
    """Prints the policies."""
    import yaml

    from trainyard.commands.policies import policy
    from trainyard.linting.session import split_names

    config = load_configuration(config_file)
    config = config._replace(
        select=split_names(select) or config.select,
        ignore=(*config.ignore, *split_names(ignore)),
        pedantic=pedantic or config.pedantic,
    )
    given = _options(**options)
    documents = [
        document
        for rule, found in _policies(config, named=bool(select))
        for document in policy.manifests(found, _with_action(given, rule))
    ]
    if not documents:
        raise click.UsageError("no rule of this selection is a policy; `trainyard policy` prints all that are")
    click.echo(yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True, width=120), nl=False)


def _policies(config: Config, *, named: bool) -> Iterator[tuple[Rule, Policy]]:
    """Yields the rules that are on, with their policies; notes the checks that cannot be policies, unless named."""
    from trainyard.commands.policies import catalog
    from trainyard.engine import selection

    on = {
        rule.name: rule
        for rule in selection.select(config.select, config.ignore, config.persona, checks=config.check_rules)
    }
    for found in catalog.of_rules():
        if found.rule in on:
            yield on[found.rule], found
    for check in config.checks:
        if check.name not in on:
            continue
        try:
            yield on[check.name], catalog.of_check(check)
        except catalog.PolicyError as error:
            if named:
                raise
            output.say(f"note: {error}")


def _options(
    actions: tuple[str, ...], prefix: str, labels: tuple[str, ...], except_namespaces: tuple[str, ...]
) -> Options:
    from trainyard.commands.policies.policy import Options

    if {"Deny", "Warn"} <= {*actions}:
        raise click.UsageError("--action: an API server takes either Deny or Warn")
    for label in labels:
        if not all(label.partition("=")[::2]):
            raise click.UsageError(f"--namespace-selector {label}: write KEY=VALUE, as training=yes")
    selector = dict(label.split("=", 1) for label in labels)
    return Options(prefix, tuple(dict.fromkeys(actions)), selector, except_namespaces)


def _with_action(options: Options, rule: Rule) -> Options:
    """Returns the options with the action of a rule's severity if the user named none."""
    if options.actions:
        return options
    return options._replace(actions=("Deny",) if rule.severity == "error" else ("Warn",))
