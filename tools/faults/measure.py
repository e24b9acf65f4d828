"""One measurement: a training run, a fault, and the recovery."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.namespace import PYTORCHJOB
from tools.faults import timeline
from tools.faults.faults import Fault
from tools.faults.runners import NODES, SAVE_STEPS, Runner
from tools.faults.sandbox import Sandbox, create_sandbox

START_SECONDS = 240
# After two checkpoints, and half-way to the next one: all runners have equally many steps to lose.
WARM_UP_STEPS = 25
PHASE = 4
LIMIT_SECONDS = 240
# A pod that comes back later than the others restarts the run again, which is a cost of the fault, too.
SETTLE_SECONDS = 15
POLL_SECONDS = 0.05
# The last line of a traceback, but not torchrun's summary of its failed children.
ERROR = re.compile(r"\b(?!ChildFailedError)[A-Z]\w*Error\b")


@dataclass(frozen=True)
class Result:
    """The cost of a fault, see `timeline.Cost`.

    `reason` is why the run did not recover, empty if it did. `end` is the job's state at the end of the measurement,
    `saved_after` is true if a checkpoint was saved after the fault was removed. None stands for what the record lacks.
    """

    fault: str
    runner: str
    seconds: float | None
    paused: float | None
    noticed: bool
    steps_lost: int
    restarts: int
    reason: str
    end: str
    step_seconds: float | None = None
    saves_failed: int | None = None
    saved_after: bool | None = None
    recovered: float | None = None
    rate: float | None = None


def measure(cluster: Cluster, engine: Engine, fault: Fault, runner: Runner, *, limit: float = LIMIT_SECONDS) -> Result:
    """Measure one fault on a new run, which is removed at the end.

    Raises `ClusterError` when the run does not start, or the fault cannot be injected.
    """
    with create_sandbox(cluster, engine, local=fault.local) as sandbox:
        runner.install(sandbox)
        for _ in range(fault.times - 1):
            inject_and_measure(sandbox, fault, runner, limit=limit)
        return inject_and_measure(sandbox, fault, runner, limit=limit)


def inject_and_measure(sandbox: Sandbox, fault: Fault, runner: Runner, *, limit: float = LIMIT_SECONDS) -> Result:
    """Measure one fault on an installed run, which may have had other faults before.

    Raises `ClusterError` when the run does not train, or the fault cannot be injected.
    """
    _wait(lambda: _in_phase(sandbox), "a run that trains", START_SECONDS, sandbox)
    injected = fault.inject(sandbox, runner)
    removed = time.time()
    reason = ""
    try:
        _wait(lambda: _has_settled(sandbox, injected, removed), "steps", max(limit - (removed - injected), 1), sandbox)
    except ClusterError as error:
        reason = error.message
    return _result(sandbox, fault, runner, injected, removed, reason)


def _in_phase(sandbox: Sandbox) -> bool:
    steps = timeline.steps(timeline.read(sandbox.events))
    return bool(steps) and steps[-1].step >= WARM_UP_STEPS and steps[-1].step % SAVE_STEPS == PHASE


def _has_settled(sandbox: Sandbox, injected: float, removed: float) -> bool:
    events = timeline.read(sandbox.events)
    found = timeline.cost(events, injected, time.time())
    start = [event for event in events if event.name == "started"][-1]
    since = max(removed, start.time)
    taken = [event for event in timeline.steps(events) if event.time > since]
    # The first save that is due has ended when the next one starts, however slow the machine is.
    has_saved = bool(taken) and taken[-1].step - taken[0].step >= 2 * SAVE_STEPS
    is_complete = start.world_size == NODES
    return found.seconds is not None and is_complete and has_saved and taken[-1].time > since + SETTLE_SECONDS


def _wait(condition: Callable[[], bool], what: str, seconds: float, sandbox: Sandbox) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise ClusterError(f"timed out after {seconds:.0f} s waiting for {what}: {_last_error(sandbox)}")
        time.sleep(POLL_SECONDS)


def _last_error(sandbox: Sandbox) -> str:
    """Return the last error in a pod's log, of this container or of the one before a restart."""
    said: list[str] = []
    try:
        for pod in sandbox.kubectl("get", "pods", "--output=name").split():
            for options in ((), ("--previous",)):
                try:
                    said += sandbox.kubectl("logs", pod, "--tail=200", *options).splitlines()
                except ClusterError:  # it has not started, or for the first time
                    continue
    except ClusterError as error:
        return error.message
    found = [line.strip() for line in said if ERROR.search(line)]
    return found[-1] if found else "no pod logged an error"


def _result(sandbox: Sandbox, fault: Fault, runner: Runner, injected: float, removed: float, reason: str) -> Result:
    events = timeline.read(sandbox.events)
    cost = timeline.cost(events, injected, time.time())
    steps = [event.time for event in timeline.steps(events) if event.time < injected]
    saved = [event for event in events if event.name == "saved" and event.time > removed]
    return Result(
        fault=fault.name,
        runner=runner.name,
        seconds=cost.seconds,
        paused=cost.paused,
        noticed=cost.noticed,
        steps_lost=cost.steps,
        restarts=cost.restarts,
        reason=reason,
        end=_end(sandbox, runner),
        step_seconds=(steps[-1] - steps[-SAVE_STEPS]) / (SAVE_STEPS - 1),
        saves_failed=sum(event.name == "save_failed" for event in events),
        saved_after=bool(saved),
        recovered=cost.recovered,
        rate=cost.rate,
    )


def _end(sandbox: Sandbox, runner: Runner) -> str:
    try:
        connection = api.connect(sandbox.cluster.kubeconfig)
        job = api.find(connection, *PYTORCHJOB, runner.name, sandbox.namespace)
    except api.NO_ANSWER:
        return "unknown"
    conditions = (job is not None and job.status and job.status.conditions) or []
    return next((found.type.lower() for found in reversed(conditions) if found.status == "True"), "unknown")
