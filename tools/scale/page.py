"""The page of the documentation: tables and bars."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.cluster import tools
from tools import markdown, results_page
from tools.generate import scale_picture
from tools.scale.chaos import Chaos
from tools.scale.control_plane import RAISED, Limits
from tools.scale.measuring import Usage
from tools.scale.placement import Placement
from tools.scale.queueing import Admission
from tools.scale.scenarios import Scenario
from tools.scale.sizes import Size
from tools.scale.workloads import JOB, PYTORCHJOB, TRAINJOB, Timing

Table = tuple[Sequence[str], list[Sequence[str]]]
PAGE = Path("docs/scale.md")
# The bars: seconds above the Indexed Job, and how much faster than stock.
ABOVE, FASTER = 12, 4
MEBI = 1 << 20


@dataclass
class Results:
    """All measurements. `load` is the load average of the machine before."""

    nodes: int
    load: float
    starts: list[tuple[Scenario, Timing | None]] = field(default_factory=list)
    idle: dict[int, dict[str, Usage]] = field(default_factory=dict)
    sizes: list[Size] = field(default_factory=list)
    placements: list[Placement] = field(default_factory=list)
    admissions: list[Admission] = field(default_factory=list)
    chaos: Chaos | None = None

    def find(self, limits: Limits, side: str, kind: str) -> Timing | None:
        """Return the timing of the start of one run, None if it was not measured or did not end."""
        for scenario, timing in self.starts:
            workload = scenario.workload
            if (scenario.limits, scenario.side, workload.kind, workload.runs) == (limits, side, kind, 1):
                return timing
        return None


def summary(timing: Timing | None) -> str:
    """Return a line about a start."""
    return "not reached" if timing is None else f"complete after {timing.complete:.1f} s"


def write(results: Results) -> None:
    """Write the tables to the page, and draw its picture."""
    results_page.write(PAGE, lines(results))
    scale_picture.write(scale_picture.ROOT)


def lines(results: Results) -> Iterator[str]:
    """Yield the lines between the markers of the page."""
    versions = [
        f"{name} {tools.module_version(name)}"
        for name in ("etcd", "kwok", "training-operator", "kubeflow-trainer", "kueue")
    ]
    where = [
        f"Kubernetes {tools.module_version(tools.kubernetes())}",
        *versions,
        f"load average before {results.load:.1f}",
    ]
    yield results_page.environment(
        *where,
        command=f"python -m tools.scale --nodes {results.nodes} --most {max(results.idle, default=results.nodes)}",
    )
    yield from _section("Starts", _starts(results))
    yield from _section("Bars", _bars(results))
    yield from _section("Processor seconds of each program during a start", _programs(results, _processor))
    yield from _section("Memory of each program after a start, in MiB", _programs(results, _memory))
    yield from _section("Idle clusters", _idle(results))
    yield from _section("Sizes", _sizes(results))
    yield from _section("Admission of queued runs", _admissions(results))
    yield from _section("Racks of a run", _placements(results))
    yield from _section("Nodes that fail, drain and return", _chaos(results))


def _section(title: str, rows: Table) -> Iterator[str]:
    yield from ("", f"### {title}", "", *markdown.table(*rows))


def _starts(results: Results) -> Table:
    columns = (
        "control plane",
        "settings",
        "start",
        "created",
        "scheduled",
        "Running",
        "Services",
        "requests/s",
        "others",
    )
    rows: list[Sequence[str]] = []
    for scenario, timing in results.starts:
        cells = ["not reached", *[""] * 5]
        if timing is not None:
            moments = (timing.created, timing.scheduled, timing.running, timing.services)
            rate = timing.used["kube-apiserver"].requests / timing.complete
            cells = [*(f"{moment:.1f}" if moment else "" for moment in moments), f"{rate:.0f}", f"{timing.others:.1f}"]
        rows.append((scenario.limits.name, scenario.side, scenario.what, *cells))
    return columns, rows


def _bars(results: Results) -> Table:
    rows: list[Sequence[str]] = []
    floor = results.find(RAISED, "", JOB)
    for kind in (PYTORCHJOB, TRAINJOB):
        ours, stock = (results.find(RAISED, side, kind) for side in ("ours", "stock"))
        if ours and floor:
            above = ours.complete - floor.complete
            rows.append(
                (f"{kind}: seconds above the Indexed Job", f"at most {ABOVE}", f"{above:.1f}", _holds(above <= ABOVE))
            )
        if ours and stock:
            ratio = stock.complete / ours.complete
            rows.append(
                (f"{kind}: times as fast as stock", f"at least {FASTER}", f"{ratio:.1f}", _holds(ratio >= FASTER))
            )
    return ("bar", "wanted", "measured", "holds"), rows


def _holds(fact: bool) -> str:
    return "yes" if fact else "no"


def _processor(used: Usage) -> str:
    return f"{used.processor:.1f}"


def _memory(used: Usage) -> str:
    return f"{used.memory / MEBI:.0f}"


def _programs(results: Results, cell: Callable[[Usage], str]) -> Table:
    measured = [(scenario, timing) for scenario, timing in results.starts if timing is not None]
    names = list(dict.fromkeys(name for _, timing in measured for name in timing.used))
    rows: list[Sequence[str]] = []
    for scenario, timing in measured:
        cells = [cell(timing.used[name]) if name in timing.used else "" for name in names]
        rows.append((scenario.limits.name, scenario.side, scenario.what, *cells))
    return ("control plane", "settings", "start", *names), rows


def _idle(results: Results) -> Table:
    columns = ["program"]
    for count in results.idle:
        columns += [f"{count:,} nodes: MiB", "requests/s", "processors"]
    names = list(dict.fromkeys(name for used in results.idle.values() for name in used))
    rows: list[Sequence[str]] = []
    for name in names:
        row = [name]
        for used in results.idle.values():
            found = used.get(name)
            row += (
                ["", "", ""]
                if found is None
                else [f"{found.memory / MEBI:.0f}", f"{found.requests:.1f}", f"{found.processor:.2f}"]
            )
        rows.append(row)
    return columns, rows


def _sizes(results: Results) -> Table:
    return ("object", "bytes"), [(what, f"{size:,}") for what, size in results.sizes]


def _admissions(results: Results) -> Table:
    rows: list[Sequence[str]] = []
    for found in results.admissions:
        load, used = found.workload, found.used["kueue-controller-manager"]
        moments = (f"{moment:.1f}" for moment in (found.queued, found.admitted, found.running))
        rows.append((f"{load.runs} {load.kind}s", f"{found.workers}", *moments, f"{used.processor:.1f}", _memory(used)))
    columns = (
        "runs of one pod",
        "jobs at once",
        "queued",
        "admitted",
        "Running",
        "processor s of Kueue",
        "MiB of Kueue",
    )
    return columns, rows


def _placements(results: Results) -> Table:
    rows = [
        (found.what, f"{found.pods}", f"{found.racks}", f"{found.fewest}", f"{found.blocks}")
        for found in results.placements
    ]
    return ("setting", "pods", "racks", "fewest possible", "blocks"), list(rows)


def _chaos(results: Results) -> Table:
    rows: list[Sequence[str]] = []
    if (found := results.chaos) is not None:
        events = ", ".join(f"{count} {event}" for event, count in sorted(found.events.items()))
        rows = [(f"{found.runs}", events, f"{found.lost}", f"{found.orphans}", _holds(found.complete))]
    return ("runs", "events", "runs lost", "pods too many", "all pods Running again"), rows
