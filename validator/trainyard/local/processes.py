"""The nodes of a plan as processes: all start, and when one fails or somebody asks for it, all end."""

from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import NamedTuple

from validator.local.errors import MissingError
from validator.local.family import Family, follow_parent
from validator.local.node import Node
from validator.local.output import Output

# How long the others may take to notice that a node has failed, and to say so, before they are told to end.
PEERS_SECONDS = 10
_TICK_SECONDS = 0.1
# A pipe ends with the last process that holds it, which may be none of ours.
_DRAIN_SECONDS = 5
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Outcome(NamedTuple):
    """How a run ended.

    `failed` are the nodes that failed by themselves, each with its exit status, or below 0 the number of a signal;
    `signal` is the one to this process that ended the run, if one did.
    """

    failed: dict[str, int]
    signal: int | None


def run(
    nodes: Sequence[Node], environment: Mapping[str, str], grace_seconds: float, say: Callable[[str], None]
) -> Outcome:
    """Run the nodes to their end. When this returns or raises, no process is left.

    A node that fails, or SIGINT or SIGTERM to this process, ends the others: by SIGTERM, and `grace_seconds` later, or
    on a second signal, by SIGKILL. So does a reader of the output who leaves, which then raises `BrokenPipeError`.
    Raises `MissingError` where a program cannot be started.
    """
    with _signals() as received, _Processes(grace_seconds, received, say) as processes:
        for node in nodes:
            processes.start(node, environment)
        return processes.finish()


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """The signals that this process has received since, which do nothing else."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    # What is ignored stays so, as under nohup.
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Processes:
    """Processes under way."""

    def __init__(self, grace_seconds: float, received: list[int], say: Callable[[str], None]) -> None:
        self._grace_seconds, self._received, self._say = grace_seconds, received, say
        self._family = Family()
        self._output = Output()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        # When they are told to end, and when they are killed.
        self._end_at = self._kill_at = math.inf
        self._is_told = False
        self._failed: dict[str, int] = {}

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()
        for process in self._processes.values():
            process.wait()
        until = time.monotonic() + _DRAIN_SECONDS
        while self._output.pump(_TICK_SECONDS) and time.monotonic() < until:
            pass
        self._output.close()
        self._family.leave()

    def start(self, node: Node, environment: Mapping[str, str]) -> None:
        """Start a node. In a session of its own, a terminal's Ctrl-C reaches it by this process alone."""
        try:
            process = subprocess.Popen(
                node.argv,
                env={**environment, **node.environment},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=follow_parent,
            )
        except OSError as error:
            raise MissingError(f"{node.argv[0]} cannot be started: {error.strerror}") from None
        index = len(self._processes)
        self._processes[node.name] = process
        for pipe, stream in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            if pipe is not None:
                self._output.add(index, node.name, pipe, stream)

    def finish(self) -> Outcome:
        """Wait for all of them, and end them when it is time."""
        while any(process.poll() is None for process in self._processes.values()):
            self._output.pump(_TICK_SECONDS)
            self._decide(time.monotonic())
        if self._output.is_gone:
            raise BrokenPipeError
        failed = self._failed if self._is_told else self._statuses()
        return Outcome(failed, self._received[0] if self._received else None)

    def _statuses(self) -> dict[str, int]:
        """Those of the nodes that have failed until now."""
        return {name: process.returncode for name, process in self._processes.items() if process.poll()}

    def _decide(self, now: float) -> None:
        if self._received or self._output.is_gone:
            self._end_at = min(self._end_at, now)
        elif self._statuses():
            self._end_at = min(self._end_at, now + PEERS_SECONDS)
        if len(self._received) > 1:
            self._kill_at = now
        if now >= self._end_at and not self._is_told:
            self._tell(now)
        if now >= self._kill_at:
            self._kill()

    def _tell(self, now: float) -> None:
        """Pass SIGTERM on."""
        self._is_told, self._kill_at, self._failed = True, now + self._grace_seconds, self._statuses()
        whom = f"{' and '.join(self._failed)} failed: SIGTERM to the others" if self._failed else "SIGTERM to all nodes"
        again = ", or at once when told again" if self._received else ""
        self._say(f"{whom}, SIGKILL in {self._grace_seconds:g} s{again}")
        for process in self._processes.values():
            process.terminate()

    def _kill(self) -> None:
        """Kill them, and all that they have started."""
        for process in self._processes.values():
            process.kill()
        self._family.kill()
