"""Usage of the programs: processor time, memory, and requests to the API server."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from tools.scale.control_plane import ControlPlane

# Sent by a program, and answered by the API server.
SENT = re.compile(r"^rest_client_requests_total\{.*\} (\S+)$", re.MULTILINE)
ANSWERED = re.compile(r"^apiserver_request_total\{.*\} (\S+)$", re.MULTILINE)
SERVER = "kube-apiserver"


@dataclass(frozen=True)
class Usage:
    """Usage of a program: a sum, or the amount in a second."""

    memory: int
    processor: float
    requests: float


def usage(plane: ControlPlane) -> dict[str, Usage]:
    """Return what each program has used since its start."""
    plane.processes.check()
    return {
        name: Usage(plane.processes.memory(name), plane.processes.processor_seconds(name), _requests(plane, name))
        for name in plane.processes.names
    }


def between(before: dict[str, Usage], after: dict[str, Usage], seconds: float = 1) -> dict[str, Usage]:
    """Return what each program used in between, divided by `seconds`; the memory is that at the end."""
    return {
        name: Usage(
            now.memory,
            (now.processor - before[name].processor) / seconds,
            (now.requests - before[name].requests) / seconds,
        )
        for name, now in after.items()
        if name in before
    }


def idle(plane: ControlPlane, seconds: float) -> dict[str, Usage]:
    """Return what each program uses in a second while nothing happens."""
    before = usage(plane)
    time.sleep(seconds)
    return between(before, usage(plane), seconds)


def _requests(plane: ControlPlane, name: str) -> float:
    """Return the requests that a program has sent; those that the API server has answered; zero where nobody counts."""
    pattern = ANSWERED if name == SERVER else SENT
    return sum(float(number) for number in pattern.findall(plane.get(name, "/metrics")))
