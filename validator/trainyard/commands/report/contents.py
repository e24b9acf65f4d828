"""Everything that a report shows, drawn from what a cluster says about a run."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from trainyard.commands.doctor import report
from trainyard.commands.doctor.diagnosis import diagnose
from trainyard.commands.report.heat_map import HeatMap, heat_map
from trainyard.commands.report.history import History
from trainyard.commands.report.planned import Comparison
from trainyard.commands.status.snapshot import Snapshot, Tree, name, namespace, when
from trainyard.commands.status.verdict import Verdict, judge
from trainyard.commands.support import files
from trainyard.commands.support.collecting import Log, Run
from trainyard.commands.support.redaction import Redaction
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.finding import Finding


class Event(NamedTuple):
    """An event of Kubernetes about the run."""

    time: str
    reason: str
    about: str
    message: str
    times: int
    is_warning: bool


class Manifest(NamedTuple):
    """A text of the run: its name, such as pytorchjob/demo/llm or run.yaml, and its content."""

    name: str
    content: str


class Contents(NamedTuple):
    """The contents of a report. `notes` name what the user may not read.

    `diagnosis` is the tree of `trainyard doctor`, None for a run that needs none.
    """

    snapshot: Snapshot
    verdict: Verdict
    history: History
    diagnosis: Tree | None
    findings: Sequence[Finding]
    comparison: Comparison
    preflight: HeatMap | None
    events: Sequence[Event]
    manifests: Sequence[Manifest]
    notes: Sequence[str]


def contents(
    snapshot: Snapshot,
    logs: Sequence[Log],
    *,
    past: History,
    findings: Sequence[Finding],
    comparison: Comparison,
    measured: Iterable[str],
    manifests: Sequence[Manifest],
    notes: Sequence[str],
) -> Contents:
    """Returns the contents without secrets. `measured` are logs of preflight tests, the newest first."""
    redaction = Redaction((snapshot.job, *snapshot.pods))
    verdict = judge(snapshot)
    return Contents(
        snapshot=snapshot,
        verdict=verdict,
        history=past,
        diagnosis=_diagnosis(snapshot, logs) if verdict.is_blocked else None,
        findings=findings,
        comparison=comparison,
        preflight=next((found for log in measured if (found := heat_map(log)) is not None), None),
        events=_events(snapshot.events, redaction),
        manifests=[Manifest(one.name, redaction.text(one.content)) for one in manifests],
        notes=notes,
    )


def _diagnosis(snapshot: Snapshot, logs: Sequence[Log]) -> Tree:
    """Returns what doctor says about a run that has failed or does not start."""
    run = Run(
        name(snapshot.job),
        namespace(snapshot.job),
        [snapshot.job],
        list(snapshot.pods),
        list(snapshot.events),
        [],
        list(logs),
        [],
    )
    with tempfile.TemporaryDirectory() as folder:
        files.lay_out(run, Path(folder))
        found = json.dumps(report.tree(diagnose([folder])))
    tree: Tree = json.loads(found.replace(f"{folder}/", ""))
    return tree


def _events(found: Iterable[Tree], redaction: Redaction) -> list[Event]:
    return [
        Event(
            when(event),
            text(event, "reason"),
            _about(mapping(event, "involvedObject")),
            redaction.text(" ".join(text(event, "message").split())),
            integer(event, "count") or integer(event, "series", "count") or 1,
            text(event, "type") == "Warning",
        )
        for event in sorted(found, key=when)
    ]


def _about(tree: Mapping[str, object]) -> str:
    return f"{text(tree, 'kind').lower()}/{text(tree, 'name')}"
