"""Torchrun's lines about a failed run, and its report, whose root cause is the process that failed first on its node.

Source: torch/distributed/elastic/multiprocessing/errors/__init__.py, `ChildFailedError.format_msg`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.commands.doctor import origins
from trainyard.commands.doctor.cause import Sign

# torch/distributed/elastic/multiprocessing/api.py, when a process has failed; the report follows.
NOTICED = Sign("failed (exitcode: ", r"\] failed \(exitcode: ")
# Errors of torchrun itself, such as the loss of the store.
OWN_ERROR = Sign("torch.distributed.", r"torch\.distributed\.(?:elastic\.\w|Dist\w+Error)")
START = Sign("Root Cause (first observed failure):")
# The failures of the other processes, which stand above the root cause.
FOLLOWERS = Sign("Failures:", r"\bFailures:$")
_FIELD = re.compile(r"\b(time|rank|exitcode)\s*: (\S+)(?: \(pid: (\d+)\))?")
_POD = re.compile(r"\[pod/([\w.-]+)/")
_MOST_PODS = 16384
# A report has seven lines; prefixes of pods may add some of other pods in between.
_LENGTH = 40
# The agent ends the other processes of its node with SIGTERM.
_STOPPED = "-15"


class Field(NamedTuple):
    """A field of the report; the process is that of an exit code."""

    name: str
    value: str
    process: str

    @property
    def signal(self) -> int:
        """Returns the signal that killed the process, unless the agent ended it; 0 for none."""
        is_killed = self.name == "exitcode" and self.process and self.value[:1] == "-" and self.value != _STOPPED
        return int(self.value[1:]) if is_killed else 0


def field(line: str) -> Field | None:
    """Returns the time, the rank or the exit code in a line of the report."""
    found = _FIELD.search(line)
    return Field(found[1], found[2], found[3] or "") if found else None


class RootCause(NamedTuple):
    """The rank and process that torchrun names, and the line that does so."""

    file: str
    line: int
    rank: str
    time: float | None
    process: str


class Readers:
    """The readers of the reports in one log; pods that end together mix their lines."""

    def __init__(self) -> None:
        self._by_pod: dict[str, Reader] = {}
        self._active: set[Reader] = set()

    @property
    def active(self) -> bool:
        """Returns true while the lines of a report are expected."""
        return bool(self._active)

    def read(self, file: str, number: int, line: str) -> tuple[RootCause | None, bool]:
        """Reads a line. Returns the root cause with its last field, and if the line is among the other failures."""
        reader = self._of(line)
        root = reader.read(file, number, line)
        (self._active.add if reader.active else self._active.discard)(reader)
        return root, reader.among_followers

    def _of(self, line: str) -> Reader:
        found = _POD.match(line)
        pod = found[1] if found else ""
        if pod not in self._by_pod and len(self._by_pod) >= _MOST_PODS:
            return Reader()
        return self._by_pod.setdefault(pod, Reader())


class Reader:
    """Reads the fields of the report from the lines that follow its heading."""

    def __init__(self) -> None:
        self._left = 0
        self._fields: dict[str, str] = {}
        self._at = ("", 0)
        self.among_followers = False

    @property
    def active(self) -> bool:
        """Returns true while the lines of a report are expected."""
        return self._left > 0

    def read(self, file: str, number: int, line: str) -> RootCause | None:
        """Reads a line. Returns the root cause with its last field."""
        if FOLLOWERS.fits(line):
            self.among_followers = True
            return None
        if START.fits(line):
            self.among_followers = False
            self._left, self._fields, self._at = _LENGTH, {}, (file, number)
            return None
        if not self.active:
            return None
        self._left -= 1
        if found := field(line):
            self._fields.setdefault(found.name, found.value)
            if found.process:
                self._fields["pid"] = found.process
            if found.name == "rank":
                self._at = (file, number)
        if "rank" not in self._fields or "exitcode" not in self._fields:
            return None
        self._left = 0
        if self._fields["exitcode"] == _STOPPED or not self._fields["rank"].isdigit():
            return None
        time = origins.time(self._fields.get("time", ""))
        return RootCause(*self._at, f"rank {self._fields['rank']}", time, self._fields.get("pid", ""))
