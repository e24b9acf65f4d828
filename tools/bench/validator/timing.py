"""Wall time and memory of commands, measured alternately so that a busy moment affects all of them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.bench.validator.peers import Peer


class Measurement(NamedTuple):
    """The best of several runs: wall time in seconds, and the peak memory of its largest process in MiB."""

    seconds: float
    mebibytes: float


def measure(command: Sequence[str], cache: Path) -> Measurement:
    """Run a command to its end; exit status 1 means findings and is accepted."""
    environment = os.environ | {"TRAINYARD_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{command[:4]} ended with {process.returncode}: {said.decode()[-500:]}")
    return Measurement(seconds, usage.ru_maxrss / 1024)


def best_of(
    peers: Sequence[Peer], files: Sequence[str], cache: Path, rounds: int, before: Callable[[], None] = lambda: None
) -> dict[str, Measurement]:
    """Return the best of `rounds` runs of each peer; `before` is called before each run."""
    found: dict[str, Measurement] = {}
    for _ in range(rounds):
        for peer in peers:
            before()
            now = measure([*peer.command, *files], cache)
            known = found.get(peer.name, now)
            found[peer.name] = Measurement(min(known.seconds, now.seconds), max(known.mebibytes, now.mebibytes))
    return found
