"""`trainyard audit --platform`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trainyard.cli import output
from trainyard.linting.exit_codes import CLEAN, FINDINGS, NOTHING

if TYPE_CHECKING:
    from trainyard.commands.audit.platform import Answer
    from trainyard.commands.audit.problem import Problem

# As in the documentation of the chart.
_RELEASE, _NAMESPACE = "platform", "trainyard"
VERSION = 1


def run(
    site: str,
    release: str | None,
    kubeconfig: Path | None,
    context: str | None,
    namespaces: tuple[str, ...],
    outputs: tuple[str, ...],
) -> int:
    """Compares the cluster with a site, prints the problems and returns the exit code."""
    if len(namespaces) > 1:
        raise click.UsageError("--platform: a release has one namespace; name it with one -n")
    if outputs and outputs not in (("text",), ("json",)):
        raise click.UsageError("--platform: the formats are text and json; write --output-format json")
    answer = _answer(site, release or _RELEASE, kubeconfig, context, namespaces[0] if namespaces else _NAMESPACE)
    for note in answer.notes:
        output.say(f"note: {note}")
    if outputs == ("json",):
        click.echo(json.dumps(_tree(answer), indent=2))
    else:
        _print(answer)
    if answer.problems:
        return FINDINGS
    return CLEAN if answer.read else NOTHING


def _answer(site: str, release: str, kubeconfig: Path | None, context: str | None, namespace: str) -> Answer:
    from trainyard.commands.audit.cluster import ClusterError, connect
    from trainyard.commands.audit.platform import audit
    from trainyard.commands.audit.references import is_name
    from trainyard.loaders.site.loading import load_site

    for option, name in (("--release", release), ("--namespace", namespace)):
        if not is_name(name):
            raise click.UsageError(f"{option}: `{name}` is not a valid name")
    values = load_site(site)
    try:
        return audit(connect(kubeconfig, context), values, release, namespace)
    except ClusterError as error:
        raise click.ClickException(str(error)) from None


def _print(answer: Answer) -> None:
    from trainyard.reporters.escaping import whole_line

    for problem in answer.problems:
        click.echo(whole_line(f"{problem.subject}: {problem.message}"))
        if where := _where(problem):
            click.echo(whole_line(f"   = note: the site requires it: {where}"))
        click.echo(whole_line(f"   = help: {problem.remedy}"))
    count = len(answer.problems)
    found = f"{count} problem{'' if count == 1 else 's'}" if count else "The cluster fulfils its site"
    click.echo(f"{found} ({answer.read} objects read).")


def _tree(answer: Answer) -> dict[str, object]:
    problems = [
        {"subject": one.subject, "message": one.message, "help": one.remedy, "site": _where(one)}
        for one in answer.problems
    ]
    return {"version": VERSION, "problems": problems, "notes": answer.notes, "read": answer.read}


def _where(problem: Problem) -> str:
    if problem.place is None:
        return ""
    document = problem.place.document
    position = document.locate(problem.place)
    return f"{document.source.name}:{position.line}:{position.column}"
