"""One measurement: a run that trains, a fault, and what came after it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.cluster import api
from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.cluster.errors import ClusterError
from tests.jobs.namespace import PYTORCHJOB

from . import timeline
from .faults import Fault
from .runners import SAVE_STEPS, Runner
from .site import Site, site

START_SECONDS = 240
# With two checkpoints behind it, and in the middle between the last one and the next: each runner has as much to lose.
WARM_UP_STEPS = 25
PHASE = 4
LIMIT_SECONDS = 240
# A pod that comes back a little later than the others starts a run anew, which belongs to the fault, too.
SETTLE_SECONDS = 15
POLL_SECONDS = 0.05
# The last line of a traceback; torchrun's own says only that there was one.
ERROR = re.compile(r"\b(?!ChildFailedError)[A-Z]\w*Error\b")


@dataclass(frozen=True)
class Result:
    """What a fault has cost, see `timeline.Cost`.

    `reason` says why the run did not go on as it should, and is empty when it did. `end` is the job's state when the
    measurement was over, `saved_after` whether a checkpoint was saved after the fault was taken back.
    """

    fault: str
    runner: str
    seconds: float | None
    noticed: bool
    steps_lost: int
    restarts: int
    reason: str
    end: str
    step_seconds: float
    saves_failed: int
    saved_after: bool


def measure(cluster: Cluster, engine: Engine, fault: Fault, runner: Runner, *, limit: float = LIMIT_SECONDS) -> Result:
    """Measure one fault on a new run, of which nothing is left at the end.

    Raises `ClusterError` when the run does not begin, or the fault cannot be made.
    """
    with site(cluster, engine, small=fault.small) as place:
        runner.install(place)
        for _ in range(fault.times - 1):
            strike(place, fault, runner, limit=limit)
        return strike(place, fault, runner, limit=limit)


def strike(place: Site, fault: Fault, runner: Runner, *, limit: float = LIMIT_SECONDS) -> Result:
    """Measure one fault on a run that is installed; it may have had others before.

    Raises `ClusterError` when the run does not train, or the fault cannot be made.
    """
    _wait(lambda: _in_phase(place), "a run that trains", START_SECONDS, place)
    struck = fault.strike(place, runner)
    lifted = time.time()
    reason = ""
    try:
        _wait(lambda: _has_settled(place, struck, lifted), "steps", max(limit - (lifted - struck), 1), place)
    except ClusterError as error:
        reason = error.message
    return _result(place, fault, runner, struck, lifted, reason)


def _in_phase(place: Site) -> bool:
    steps = timeline.steps(timeline.read(place.events))
    return bool(steps) and steps[-1].step >= WARM_UP_STEPS and steps[-1].step % SAVE_STEPS == PHASE


def _has_settled(place: Site, struck: float, lifted: float) -> bool:
    events = timeline.read(place.events)
    found = timeline.cost(events, struck, time.time())
    starts = [event.time for event in events if event.name == "started"]
    since = max(lifted, starts[-1])
    newest = timeline.steps(events)[-1].time
    return found.seconds is not None and newest > since + SETTLE_SECONDS


def _wait(condition: Callable[[], bool], what: str, seconds: float, place: Site) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise ClusterError(f"waited {seconds:.0f} s in vain for {what}: {_complaint(place)}")
        time.sleep(POLL_SECONDS)


def _complaint(place: Site) -> str:
    """The last error that a pod has written, of this start of its container or of the one before."""
    said: list[str] = []
    try:
        for pod in place.kubectl("get", "pods", "--output=name").split():
            for options in ((), ("--previous",)):
                try:
                    said += place.kubectl("logs", pod, "--tail=200", *options).splitlines()
                except ClusterError:  # it has not started, or for the first time
                    continue
    except ClusterError as error:
        return error.message
    found = [line.strip() for line in said if ERROR.search(line)]
    return found[-1] if found else "no pod says why"


def _result(place: Site, fault: Fault, runner: Runner, struck: float, lifted: float, reason: str) -> Result:
    events = timeline.read(place.events)
    cost = timeline.cost(events, struck, time.time())
    steps = [event.time for event in timeline.steps(events) if event.time < struck]
    saved = [event for event in events if event.name == "saved" and event.time > lifted]
    return Result(
        fault=fault.name,
        runner=runner.name,
        seconds=cost.seconds,
        noticed=cost.noticed,
        steps_lost=cost.steps,
        restarts=cost.restarts,
        reason=reason,
        end=_end(place, runner),
        step_seconds=(steps[-1] - steps[-SAVE_STEPS]) / (SAVE_STEPS - 1),
        saves_failed=sum(event.name == "save_failed" for event in events),
        saved_after=bool(saved),
    )


def _end(place: Site, runner: Runner) -> str:
    try:
        connection = api.connect(place.cluster.kubeconfig)
        job = api.find(connection, *PYTORCHJOB, runner.name, place.namespace)
    except api.NO_ANSWER:
        return "unknown"
    conditions = (job is not None and job.status and job.status.conditions) or []
    return next((found.type.lower() for found in reversed(conditions) if found.status == "True"), "unknown")
