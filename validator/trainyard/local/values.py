"""The values of a run, from files and from the command line, and what the rules say of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from validator import files, linting, reading, registry, session
from validator.linting import Report
from validator.local.errors import RefusedError
from validator.roads.charts import Release
from validator.roads.templates.merging import merge
from validator.roads.training_job.chart import FOLDER
from validator.rule import Rule
from validator.source import Source

# With what these find, Helm renders nothing.
_REFUSALS = ("unreadable-document", "values-refused", "values-unknown-key")


class Values(NamedTuple):
    """Values as one mapping, without the chart's defaults.

    `refused` are the findings for which the chart takes none of it, `errors` those of other rules for which the run
    would fail on a cluster.
    """

    tree: dict[str, Any]
    refused: Report
    errors: Report


def read(names: Sequence[str], settings: Iterable[str], release: str) -> Values:
    """The values of the files, and of each `NAME=VALUE`; the last counts. Raises `MistakeError`."""
    given = [files.File(Source(f"--set {text.partition('=')[0]}", _document(text))) for text in settings]
    readings = [linting.read(file) for file in (*files.load(names), *given)]
    known = session.start((), session.Options())
    engine = session.engine(known.config, _with_refusals(known.rules), known.engine.site)
    released = linting.released(Release(FOLDER, release), readings)
    report = linting.lint(released, engine, known.config.allow)
    allowed = [finding for finding, _ in report.allowed if finding.rule.name in _REFUSALS]
    refused = [finding for finding in report.findings if finding.rule.name in _REFUSALS]
    errors = [finding for finding in report.findings if finding.rule.severity == "error" and finding not in refused]
    trees = [reading.documents[0].tree for reading in released if reading.documents]
    return Values(
        merge(tree for tree in trees if isinstance(tree, dict)),
        report._replace(findings=(*refused, *allowed), allowed=()),
        report._replace(findings=tuple(errors), allowed=()),
    )


def _with_refusals(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """These rules, and those that nobody can turn off, as nobody can Helm's."""
    return tuple(rule for rule in registry.rules() if rule in rules or rule.name in _REFUSALS)


def _document(text: str) -> str:
    """`train.config.epochs=1` as a document. A dot in a name has a backslash before it, as with Helm."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise RefusedError(f"--set {text}: write NAME=VALUE, as train.config.epochs=1 or 'train.args=[--epochs, 1]'")
    documents, broken = reading.read(Source(f"--set {name}", value))
    if broken:
        raise RefusedError(f"--set {name}: {value} is no YAML: {broken[0].message}")
    tree = documents[0].tree if documents else ""
    for step in reversed(re.split(r"(?<!\\)\.", name)):
        tree = {step.replace("\\.", "."): tree}
    return json.dumps(tree)
