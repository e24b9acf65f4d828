"""Wall time and memory of a command, the peers in turn so that a busy moment meets all of them."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.validator.bench.peers import Peer


class Measure(NamedTuple):
    """The best of several runs: seconds of wall time, and the most memory that its largest process had, in MiB."""

    seconds: float
    mebibytes: float


def once(command: Sequence[str], cache: Path) -> Measure:
    """Run a command to its end; exit status 1 is a finding and fine."""
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
    return Measure(seconds, usage.ru_maxrss / 1024)


def best(
    peers: Sequence[Peer], files: Sequence[str], cache: Path, rounds: int, before: Callable[[], None] = lambda: None
) -> dict[str, Measure]:
    """The best of `rounds` runs of each peer; `before` is called ahead of each."""
    found: dict[str, Measure] = {}
    for _ in range(rounds):
        for peer in peers:
            before()
            measure = once([*peer.command, *files], cache)
            known = found.get(peer.name, measure)
            found[peer.name] = Measure(min(known.seconds, measure.seconds), max(known.mebibytes, measure.mebibytes))
    return found
