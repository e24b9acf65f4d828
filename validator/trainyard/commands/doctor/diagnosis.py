"""The judgment of the evidence: causes, their consequences, and who failed first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from trainyard.commands.doctor import desync, reading, recorder, watchdog
from trainyard.commands.doctor.cause import Level
from trainyard.commands.doctor.difference import MISMATCH, Difference
from trainyard.commands.doctor.errors import DoctorError
from trainyard.commands.doctor.evidence import Evidence, Line
from trainyard.commands.doctor.first_failure import FirstFailure, first_failure
from trainyard.commands.doctor.scan import Scan
from trainyard.commands.doctor.torchrun import RootCause

_TIMEOUT = "nccl-watchdog-timeout"
_CANDIDATES = (Level.CAUSE, Level.CONSEQUENCE, Level.ENDING)


@dataclass
class Diagnosis:
    """The result for some logs.

    Attributes:
        causes: Causes with their evidence, the earliest first.
        consequences: What followed from the causes.
        hints: What makes the run slow, but did not end it.
        survived: Errors that the run went on after.
        first: The rank or pod that failed first.
        taken_down: Ranks and pods that only have consequences.
        files: Logs that were read.
        skipped: Logs of a folder that were not read, with the reason.
    """

    causes: list[Evidence] = field(default_factory=list)
    consequences: list[Evidence] = field(default_factory=list)
    hints: list[Evidence] = field(default_factory=list)
    survived: list[Evidence] = field(default_factory=list)
    first: FirstFailure | None = None
    taken_down: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    lines: int = 0


def diagnose(names: Iterable[str]) -> Diagnosis:
    """Returns the diagnosis of logs and folders.

    Raises:
        DoctorError: A named log cannot be read, or there is none that can.
    """
    names = list(names)
    scan, result, dumps = Scan(), Diagnosis(), list[recorder.Dump]()
    for file in reading.files(names):
        scan.start()
        try:
            if (dump := recorder.read(file)) is not None:
                dumps.append(dump)
            else:
                for block in reading.blocks(file):
                    scan.read(file, block)
                scan.end(file)
        except DoctorError as error:
            if file in names:
                raise
            result.skipped.append(str(error))
            continue
        result.files.append(file)
    if not result.files:
        raise DoctorError(f"no log can be read: {result.skipped[0]}")
    result.lines = scan.lines
    _judge(scan, desync.find(dumps), result)
    return result


def _judge(scan: Scan, differences: list[Difference], result: Diagnosis) -> None:
    for order, one in enumerate(differences):
        line = Line(one.dump.file, one.position, one.text, f"rank {one.dump.rank}", None, order - len(differences))
        scan.evidence[one.cause].add(line)
    for evidence in scan.evidence.values():
        evidence.rename(scan.processes.rank)
    timeouts = scan.evidence[_TIMEOUT].lines
    works = [work for line in timeouts if (work := watchdog.work(line)) is not None]
    if (other := watchdog.mismatch(works)) is not None:
        scan.evidence[MISMATCH].add(other)
    found = _reported(scan)
    result.survived = [one for one in found if one.went_on and one.cause.level is not Level.HINT]
    found = [one for one in found if one not in result.survived]
    # An exception that another cause explains shows as both.
    explained = [one for one in result.survived if one.cause.level is not Level.ENDING]
    result.survived = explained or result.survived
    by_level = {level: [one for one in found if one.cause.level == level] for level in Level}
    shown = next((level for level in _CANDIDATES if by_level[level]), None)
    result.hints = by_level[Level.HINT]
    if shown is not None:
        result.causes = by_level[shown]
    promoted = shown is not Level.CAUSE
    if not promoted:
        result.consequences = by_level[Level.CONSEQUENCE]
    if not result.causes:
        result.causes, result.hints = result.hints, []
        return
    roots = scan.root_causes if promoted else _with_own_error(scan.root_causes, result)
    result.first = first_failure(result.causes, works if promoted else [], roots, differences)
    result.taken_down = _taken_down(result)


def _with_own_error(roots: list[RootCause], result: Diagnosis) -> list[RootCause]:
    """Returns the root causes of torchrun without ranks that only lost their peers: each node has a report."""
    own = {origin for evidence in result.causes for origin in evidence.origins}
    lost = {origin for evidence in result.consequences for origin in evidence.origins} - own
    return [root for root in roots if root.rank not in lost or not own]


def _reported(scan: Scan) -> list[Evidence]:
    """Returns the evidence of the causes that hold, the earliest line first."""
    holding = {
        name: evidence
        for name, evidence in scan.evidence.items()
        if evidence.by_origin and (not evidence.cause.needs or name in scan.needed)
    }
    hidden = {name for evidence in holding.values() if not evidence.went_on for name in evidence.cause.hides}
    return sorted(
        (evidence for name, evidence in holding.items() if name not in hidden), key=lambda one: one.lines[0].order
    )


def _taken_down(result: Diagnosis) -> list[str]:
    if result.first is None:
        return []
    lines = [line for one in (*result.causes, *result.consequences) for line in one.lines if line.origin is not None]
    represented = _pods_of_ranks(lines)
    names = (line.origin for line in lines if line.origin is not None and line.origin not in represented)
    return [name for name in dict.fromkeys(names) if name != result.first.origin]


def _pods_of_ranks(lines: list[Line]) -> set[str | None]:
    """Returns the pods of lines that name a rank: by the line, or by a log with the lines of one pod only."""
    of_ranks = [line for line in lines if line.origin != line.pod]
    files = {line.file for line in of_ranks}
    pods = {file: {line.pod for line in lines if line.file == file and line.pod is not None} for file in files}
    return {line.pod for line in of_ranks} | {pod for found in pods.values() if len(found) == 1 for pod in found}
