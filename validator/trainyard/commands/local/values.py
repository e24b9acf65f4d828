"""The values of a run, from files and from the command line, and the findings about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gotemplate.merging import merge
from trainyard.commands.local.errors import RunRefusedError
from trainyard.document import files, reading
from trainyard.document.source import Source
from trainyard.engine import registry
from trainyard.engine.rule import Rule
from trainyard.linting import pipeline, session
from trainyard.linting.report import Report
from trainyard.loaders.helm.release import ChartRelease
from trainyard.loaders.training_job.chart import FOLDER

# Helm renders nothing if these rules find anything.
_REFUSALS = ("unreadable-document", "values-refused", "values-unknown-key")


class Values(NamedTuple):
    """Values as one mapping, without the chart's defaults.

    `refused` are the findings for which the chart refuses the values, `errors` those of other rules for which the run
    would fail on a cluster. `notes` are those of the session.
    """

    tree: dict[str, Any]
    refused: Report
    errors: Report
    notes: tuple[str, ...] = ()


def read_values(names: Sequence[str], settings: Iterable[str], release: str) -> Values:
    """Returns the values of the files, and of each `NAME=VALUE`; the last wins. Raises `MistakeError`."""
    given = [files.File(Source(f"--set {text.partition('=')[0]}", _document(text))) for text in settings]
    readings = [pipeline.read_file(file) for file in (*files.open_files(names), *given)]
    known = session.start_session((), session.Options())
    engine = session.engine(known.config, _with_refusals(known.rules), known.engine.site)
    released = pipeline.released(ChartRelease(FOLDER, release), readings)
    report = pipeline.lint(released, engine, known.config.allow)
    allowed = [finding for finding, _ in report.allowed if finding.rule.name in _REFUSALS]
    refused = [finding for finding in report.findings if finding.rule.name in _REFUSALS]
    errors = [finding for finding in report.findings if finding.rule.severity == "error" and finding not in refused]
    trees = [reading.documents[0].tree for reading in released if reading.documents]
    return Values(
        merge(tree for tree in trees if isinstance(tree, dict)),
        report._replace(findings=(*refused, *allowed), allowed=()),
        report._replace(findings=tuple(errors), allowed=()),
        known.notes,
    )


def _with_refusals(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Returns these rules with those that cannot be turned off, because Helm refuses the values anyway."""
    return (*rules, *(rule for rule in registry.rules() if rule.name in _REFUSALS and rule not in rules))


def _document(text: str) -> str:
    """Returns `train.config.epochs=1` as a document. A dot in a name is escaped by a backslash, as with Helm."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise RunRefusedError(f"--set {text}: write NAME=VALUE, as train.config.epochs=1 or 'train.args=[--epochs, 1]'")
    documents, broken = reading.read(Source(f"--set {name}", value))
    if broken:
        raise RunRefusedError(f"--set {name}: {value} is not valid YAML: {broken[0].message}")
    tree = documents[0].tree if documents else ""
    for step in reversed(re.split(r"(?<!\\)\.", name)):
        tree = {step.replace("\\.", "."): tree}
    return json.dumps(tree)
