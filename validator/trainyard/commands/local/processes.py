"""Runs the nodes of a plan as processes: all start together, and a failure or a signal ends all of them."""

from __future__ import annotations

import contextlib
import functools
import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import NamedTuple

from trainyard.commands.local.descendants import Descendants, follow_parent
from trainyard.commands.local.errors import MissingProgramError
from trainyard.commands.local.first_error import ErrorLog, Line
from trainyard.commands.local.node import Node
from trainyard.commands.local.output import Output

# Time for the other nodes to notice a failure and report it, before they are told to end.
PEERS_SECONDS = 10
_TICK_SECONDS = 0.1
# A pipe ends with the last process that holds it, which may not be one of ours.
_DRAIN_SECONDS = 5
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Outcome(NamedTuple):
    """The outcome of a run.

    `failed` are the nodes that failed by themselves, each with its exit status, or the negative number of a signal;
    `signal` is the one to this process that ended the run, if any. `error` is the first error of a failed run.
    """

    failed: dict[str, int]
    signal: int | None
    error: Line | None = None


def run_nodes(
    nodes: Sequence[Node],
    environment: Mapping[str, str],
    grace_seconds: float,
    say: Callable[[str], None],
    kill_containers: Callable[[], None] = lambda: None,
) -> Outcome:
    """Runs the nodes to their end. When this returns or raises, no process is left.

    A failed node, or SIGINT or SIGTERM to this process, ends the others: by SIGTERM, then by SIGKILL after
    `grace_seconds` or on a second signal. So does closed output, which then raises `BrokenPipeError`. Raises
    `MissingProgramError` if a program cannot be started.
    """
    with (
        collected_signals() as received,
        _Processes(grace_seconds, received, say, kill_containers) as processes,
    ):
        for node in nodes:
            processes.start(node, environment)
        outcome = processes.finish()
    # The end of the output has been read now.
    return outcome._replace(error=processes.errors.first() if outcome.failed else None)


@contextlib.contextmanager
def collected_signals() -> Iterator[list[int]]:
    """Context manager: collects the signals to this process, which have no other effect."""
    received: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        received.append(number)

    # Ignored signals stay ignored, as under nohup.
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Processes:
    """The running processes. `errors` are the last lines of their standard error."""

    def __init__(
        self,
        grace_seconds: float,
        received: list[int],
        say: Callable[[str], None],
        kill_containers: Callable[[], None],
    ) -> None:
        self._kill_containers = kill_containers
        self._grace_seconds, self._received, self._say = grace_seconds, received, say
        self._family = Descendants()
        self._output = Output()
        self.errors = ErrorLog()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        # Deadlines for SIGTERM and SIGKILL.
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
        """Starts a node. It has a session of its own, so that Ctrl-C reaches it only through this process."""
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
            raise MissingProgramError(f"{node.argv[0]} cannot be started: {error.strerror}") from None
        index = len(self._processes)
        self._processes[node.name] = process
        keep = functools.partial(self.errors.add, node.name)
        for pipe, stream, kept in ((process.stdout, sys.stdout, None), (process.stderr, sys.stderr, keep)):
            if pipe is not None:
                self._output.add(index, node.name, pipe, stream if node.is_shown else None, kept)

    def finish(self) -> Outcome:
        """Waits for all of them, and ends them when it is time."""
        while any(process.poll() is None for process in self._processes.values()):
            self._output.pump(_TICK_SECONDS)
            self._decide(time.monotonic())
        if self._output.is_gone:
            raise BrokenPipeError
        failed = self._failed if self._is_told else self._statuses()
        return Outcome(failed, self._received[0] if self._received else None)

    def _statuses(self) -> dict[str, int]:
        """Returns the statuses of the nodes that have failed so far."""
        return {name: process.returncode for name, process in self._processes.items() if process.poll()}

    def _decide(self, now: float) -> None:
        if self._received or self._output.is_gone:
            self._end_at = min(self._end_at, now)
        elif self._statuses():
            self._end_at = min(self._end_at, now + PEERS_SECONDS)
        if len(self._received) > 1:
            self._kill_at = now
        if now >= self._end_at and not self._is_told:
            self._terminate(now)
        if now >= self._kill_at:
            self._kill()

    def _terminate(self, now: float) -> None:
        """Sends SIGTERM to the nodes."""
        self._is_told, self._kill_at, self._failed = True, now + self._grace_seconds, self._statuses()
        whom = f"{' and '.join(self._failed)} failed: SIGTERM to the others" if self._failed else "SIGTERM to all nodes"
        again = ", or at once on a second signal" if self._received else ""
        self._say(f"{whom}, SIGKILL in {self._grace_seconds:g} s{again}")
        for process in self._processes.values():
            process.terminate()

    def _kill(self) -> None:
        """Kills the nodes and all of their descendants."""
        # First, because an engine whose monitor of a container was killed takes it for running.
        self._kill_containers()
        for process in self._processes.values():
            process.kill()
        self._family.kill()
