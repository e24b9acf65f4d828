"""The agent: checks its node in rounds, and sets the condition in the status of the node."""

from __future__ import annotations

import functools
import time
from datetime import datetime
from pathlib import Path
from typing import Any

from prometheus_client import start_http_server

from nodehealth import condition, metrics
from nodehealth.api import Api, ApiError, Tree
from nodehealth.checks.disks import DiskCheck
from nodehealth.checks.gpu import GpuCheck
from nodehealth.checks.kernel_log import KernelLogCheck
from nodehealth.checks.links import LinkCheck
from nodehealth.clock import now, parsed, text
from nodehealth.config import Agent
from nodehealth.keys import REPAIRED
from nodehealth.memory import Memory
from nodehealth.rounds import Check, Confirmation, Rounds

# An unchanged condition is written this often. The controller distrusts one that is older than `staleSeconds`.
HEARTBEAT_SECONDS = 120
EVENTS = {condition.HEALTHY: ("Normal", "NodeHealthy"), condition.UNHEALTHY: ("Warning", "NodeUnhealthy")}


class Reporter:
    """Writes the condition when it changes, and as a heartbeat."""

    def __init__(self, api: Api, node: str) -> None:
        self._api = api
        self._node = node
        self._known: Tree | None = None
        self._repaired: datetime | None = None
        self._written = float("-inf")
        self._read_at = float("-inf")

    def repaired(self) -> datetime | None:
        """Returns the time since which faults count, of the annotation on the node."""
        return self._repaired

    def refresh(self) -> None:
        """Reads the node again. Raises `ApiError`."""
        node = self._api.node(self._node)
        self._known = condition.of(node)
        self._repaired = parsed(((node.get("metadata") or {}).get("annotations") or {}).get(REPAIRED))
        self._read_at = time.monotonic()

    def report(self, state: tuple[str, str, str]) -> None:
        """Writes the state of the node if it is new or the last report is old. Raises `ApiError`."""
        if time.monotonic() - self._read_at > HEARTBEAT_SECONDS or state[0] != condition.HEALTHY:
            self.refresh()
        known = self._known or {}
        same = tuple(known.get(key) for key in ("status", "reason", "message")) == state
        if same and time.monotonic() - self._written < HEARTBEAT_SECONDS:
            return
        wanted = condition.condition(state, known, now())
        self._api.set_condition(self._node, wanted)
        self._written = time.monotonic()
        self._known = dict(wanted)
        if known.get("status") != state[0]:
            kind, reason = EVENTS.get(state[0], ("Warning", "NodeHealthUnknown"))
            print(f"node {self._node}: {known.get('status') or 'no condition'} -> {state[0]}: {state[2]}", flush=True)
            self._api.event(self._node, kind, reason, state[2], text(now()))

    def keep(self) -> None:
        """Writes the condition that the node has, while a new one waits for its confirmation. Raises `ApiError`."""
        if self._known and self._known.get("status") != condition.UNKNOWN:
            self.report(tuple(str(self._known.get(key) or "") for key in ("status", "reason", "message")))  # type: ignore[arg-type]


def checks(settings: Agent, reporter: Reporter, nvml: Any) -> dict[str, Check]:
    """Returns the enabled checks, by name."""
    memory = Memory(Path(settings.state))
    sysfs = Path(settings.sysfs)
    made: dict[str, Check] = {}
    if settings.gpu.enabled:
        made["gpu"] = GpuCheck(settings.gpu, sysfs, memory, nvml)
    if settings.xid.enabled:
        made["xid"] = KernelLogCheck(settings.xid, Path(settings.kernel_log), reporter.repaired)
    if settings.links.enabled:
        made["links"] = LinkCheck(settings.links, sysfs, memory)
    if settings.disks.enabled:
        made["disks"] = DiskCheck(settings.disks)
    return made


def run(settings: Agent, api: Api, nvml: Any) -> None:
    """Checks the node until the process ends. Its port opens after the first round, so that the pod is Ready then."""
    reporter = Reporter(api, settings.node)
    rounds = Rounds(checks(settings, reporter, nvml), settings.timeout_seconds)
    confirmation = Confirmation(settings.confirmations)
    _attempt(reporter.refresh)
    serving = False
    while True:
        began = time.monotonic()
        found = rounds.run()
        sure, waiting = confirmation.confirmed(found.faults)
        metrics.record_round(settings.node, sure, found)
        state = condition.state(sure, found.unknown)
        _attempt(reporter.keep if waiting and not sure else functools.partial(reporter.report, state))
        if not serving:
            start_http_server(settings.metrics_port)
            serving = True
        time.sleep(max(1.0, settings.interval_seconds - (time.monotonic() - began)))


def _attempt(request: Any) -> None:
    """Sends a request; one that fails is repeated in the next round."""
    try:
        request()
    except ApiError as error:
        metrics.API_ERRORS.inc()
        print(f"the node's condition is not written: {error}", flush=True)
