"""The logs of all pods of a run, merged by time, each line with the ranks of its pod."""

from __future__ import annotations

import datetime
import heapq
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trainyard.commands.audit.cluster import ClusterError, RequestRefusedError
from trainyard.commands.status.replicas import Replica
from trainyard.commands.status.snapshot import Tree, moment

POLL_SECONDS = 2.0


class Line(NamedTuple):
    """A line of a log with its time, as text that sorts by time, and its pod."""

    time: str
    pod: str
    text: str


class Source(NamedTuple):
    """A pod, and what stands before its lines."""

    pod: Tree
    name: str
    ranks: tuple[int, int] | None
    prefix: str


def source(replica: Replica) -> Source:
    """Returns the source of a pod. `trainyard doctor` reads ranks and pods from these prefixes."""
    first, last = replica.ranks or (None, None)
    who = f"rank{replica.rank}" if replica.ranks else replica.role or "pod"
    prefix = f"[{who}]" if replica.ranks and first == last else f"[{who} pod/{replica.name}]"
    return Source(replica.pod, replica.name, replica.ranks, prefix)


def with_rank(sources: Iterable[Source], rank: int) -> list[Source]:
    """Returns the source of the pod with this rank, none if no pod has it."""
    return [one for one in sources if one.ranks is not None and one.ranks[0] <= rank <= one.ranks[1]]


def merged(streams: Mapping[str, Iterable[str]]) -> Iterator[Line]:
    """Returns the lines of all pods by time; each log is read only as far as the others have come."""
    yield from heapq.merge(*(_lines(pod, stream) for pod, stream in streams.items()), key=lambda line: line.time)


def _lines(pod: str, stream: Iterable[str]) -> Iterator[Line]:
    last = ""
    for words in stream:
        line = parsed(pod, words, last)
        last = line.time
        yield line


def parsed(pod: str, words: str, last: str = "") -> Line:
    """Returns a line that starts with its time. One without a time has that of the line before it."""
    stamp, _, rest = words.partition(" ")
    when = moment(stamp)
    if when is None:
        return Line(last, pod, words)
    # The nanoseconds have no trailing zeros, so that only the text without the zone sorts by time.
    utc = when.astimezone(datetime.UTC).replace(tzinfo=None)
    return Line(stamp[:-1] if stamp.endswith("Z") else utc.isoformat(), pod, rest)


class Follower:
    """Follows the logs of a run until it has ended, with those of pods that start later.

    Each pod has a thread that reads its log. Lines come in the order in which they arrive.
    """

    def __init__(self, read: Callable[[Source, str], Iterator[str]]) -> None:
        self._read = read
        self._arrived: queue.Queue[Line] = queue.Queue(10_000)
        self._threads: dict[str, threading.Thread] = {}
        self._last: dict[str, str] = {}
        self.faults: list[str] = []

    def follow(self, state: Callable[[], tuple[Sequence[Source], bool]]) -> Iterator[Line]:
        """Yields lines. `state` returns the pods that have started, and true if the run has ended."""
        while True:
            found, ended = state()
            for one in found:
                self._start(one)
            deadline = time.monotonic() + POLL_SECONDS
            while (left := deadline - time.monotonic()) > 0:
                try:
                    yield self._arrived.get(timeout=left)
                except queue.Empty:
                    break
            if ended and not any(thread.is_alive() for thread in self._threads.values()):
                while not self._arrived.empty():
                    yield self._arrived.get()
                return

    def _start(self, one: Source) -> None:
        running = self._threads.get(one.name)
        if running is None or not running.is_alive():
            # A container that starts again has a new log; its lines begin after the last one seen.
            self._threads[one.name] = threading.Thread(target=self._copy, args=(one,), daemon=True)
            self._threads[one.name].start()

    def _copy(self, one: Source) -> None:
        last = self._last.get(one.name, "")
        try:
            for words in self._read(one, last):
                line = parsed(one.name, words, last)
                if line.time > self._last.get(one.name, "") or not line.time:
                    self._arrived.put(line)
                    last = line.time
            self._last[one.name] = last
        except (ClusterError, RequestRefusedError) as error:
            self._last[one.name] = last
            self.faults.append(f"{one.name}: {error}")
