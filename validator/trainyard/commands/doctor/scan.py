"""The pass over the logs, once and in their order.

A block is searched for the texts of all signs. Only lines with one of them are decoded and matched, so that a log takes
the time of a search.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.commands.doctor import origins, processes, torchrun, tracebacks
from trainyard.commands.doctor.catalogue import causes
from trainyard.commands.doctor.cause import Cause, Sign
from trainyard.commands.doctor.evidence import Evidence, Line
from trainyard.commands.doctor.progress import Progress
from trainyard.commands.doctor.reading import Block

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# `kubectl describe` starts an object with its name; the key has no indent, unlike those inside of the object.
_DESCRIBED = re.compile(r"^Name:\s+(\S+)$")
_NAME = b"Name:  "
_BEFORE, _AFTER = 400, 1600
# The cause of a traceback that ends with an exception of any name.
_PROGRAM = "program-failed"


class _Read(NamedTuple):
    """A line that may show causes. The message is without the heads of kubectl."""

    file: str
    number: int
    text: str
    message: str
    origin: str | None
    frame: str


class Scan:
    """The evidence of logs."""

    def __init__(self) -> None:
        self.evidence = {name: Evidence(cause) for name, cause in causes().items()}
        self.needed: set[str] = set()
        self.root_causes: list[torchrun.RootCause] = []
        self.processes = processes.Processes()
        self.lines = 0
        self._order = 0
        self._users = _users()
        followed = (torchrun.START, torchrun.FOLLOWERS, processes.SIGN, tracebacks.START, tracebacks.FRAME)
        fixed = (*(sign.literal for sign in followed), _NAME)
        self._literals = [*self._users, *fixed]
        self._context: str | None = None
        self._torchrun = torchrun.Readers()
        self._tracebacks = tracebacks.Tracebacks()
        self._progress = Progress()
        # Each line has to be read, because it may be part of what began before it.
        self._follows = False

    def start(self) -> None:
        """Begins another log."""
        self._context, self._torchrun = None, torchrun.Readers()
        self._tracebacks, self._progress = tracebacks.Tracebacks(), Progress()
        self._follows = False

    def end(self, file: str) -> None:
        """Ends a log."""
        for evidence in self.evidence.values():
            evidence.end_log(file, self._progress)

    def read(self, file: str, block: Block) -> None:
        """Reads a block."""
        data = block.data
        wanted = [literal for literal in self._literals if literal in data]
        if wanted or self._follows:
            for offset, line in enumerate(data.split(b"\n")):
                self._read_line(file, block.first + offset, line, wanted)
        self._progress.read(block, steps=self._order > 0)
        self.lines += data.count(b"\n")

    def _read_line(self, file: str, number: int, line: bytes, wanted: list[bytes]) -> None:
        found = [literal for literal in wanted if literal in line]
        if not found and not self._follows:
            return
        text = _text(line, found[0] if found else b"")
        if (named := _DESCRIBED.match(text)) is not None:
            self._context = f"pod {named[1]}"
        root, is_follower = self._torchrun.read(file, number, text)
        if root is not None:
            self.root_causes.append(root)
            self.processes.add(root.process, root.rank)
        if processes.SIGN.fits(text):
            self.processes.read(text)
        message, origin = origins.message(text), origins.origin(text, self._context)
        traceback = self._tracebacks.read(message, origin)
        self._follows = self._torchrun.active or self._tracebacks.active
        one = _Read(file, number, text, message, origin, traceback.frame)
        judged = {cause.name: cause for literal in found for cause in self._users.get(literal, ())}
        seen = [self._judge(cause, one) for cause in judged.values() if not (cause.ended_by_agent and is_follower)]
        if traceback.is_exception and not any(seen):
            self._add(_PROGRAM, one)

    def _judge(self, cause: Cause, one: _Read) -> bool:
        """Returns true if the line is evidence of a cause."""
        evidence = self.evidence[cause.name]
        if any(sign.fits(one.message) for sign in cause.resolved_by):
            evidence.resolve(one.origin, one.text)
            if self._context is None:
                # The events of one pod, without the head of `kubectl describe`, name it only where it got a node.
                evidence.resolve(None, one.text)
        if any(sign.fits(one.message) for sign in cause.needs):
            self.needed.add(cause.name)
        if not cause.in_line(one.message):
            return False
        self._add(cause.name, one)
        return True

    def _add(self, cause: str, one: _Read) -> None:
        self._order += 1
        pod, time = origins.pod(one.text, self._context), origins.time(one.text)
        line = Line(one.file, one.number, one.text, one.origin, time, self._order, pod, one.frame)
        self.evidence[cause].add(line)


def _users() -> dict[bytes, list[Cause]]:
    """Returns the causes by the texts of their signs."""
    users: dict[bytes, list[Cause]] = {}
    for cause in causes().values():
        signs: tuple[Sign, ...] = cause.all_signs
        for literal in dict.fromkeys(sign.literal for sign in signs):
            users.setdefault(literal, []).append(cause)
    return users


def _text(line: bytes, literal: bytes) -> str:
    """Returns the part of a line around a text: a progress bar has made megabytes of some lines."""
    at = line.find(literal)
    start = max(line.rfind(b"\r", 0, at) + 1, 0)
    start = max(start, at - _BEFORE) if at - start > _BEFORE else start
    end = line.find(b"\r", at)
    end = min(end if end >= 0 else len(line), at + _AFTER)
    return _COLOURS.sub("", line[start:end].decode("utf-8", "replace")).rstrip()
