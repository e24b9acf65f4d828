"""Rounds of checks: each in a thread of its own, because a broken device may keep a read waiting for ever."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from nodehealth.fault import CannotCheckError, Fault

Check = Callable[[], list[Fault]]


class Round(NamedTuple):
    """The results of one round: faults, reasons for which a check cannot tell, and the seconds of each check."""

    faults: list[Fault]
    unknown: dict[str, str]
    seconds: dict[str, float]


class _Attempt:
    def __init__(self, check: Check) -> None:
        self._check = check
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.faults: list[Fault] = []
        self.unknown = ""
        self.seconds = 0.0
        self._thread.start()

    def _run(self) -> None:
        try:
            self.faults = self._check()
        except CannotCheckError as error:
            self.unknown = str(error)
        except Exception as error:
            # A check is a part among others: the node's other devices are still checked.
            self.unknown = f"the check failed: {type(error).__name__}: {error}"
        self.seconds = time.monotonic() - self._began

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def ended(self, until: float) -> bool:
        """Waits until a time of the monotonic clock at most, and returns true if the check has ended."""
        self._thread.join(max(0.0, until - time.monotonic()))
        return not self._thread.is_alive()


class Rounds:
    """Runs the checks. One that has not ended is not started again, and is a fault after `timeout` seconds."""

    def __init__(self, checks: Mapping[str, Check], timeout: float) -> None:
        self._checks = checks
        self._timeout = timeout
        self._running: dict[str, _Attempt] = {}

    def run(self) -> Round:
        """Runs all checks at the same time, and waits for them."""
        until = time.monotonic() + self._timeout
        for name, check in self._checks.items():
            if name not in self._running:
                self._running[name] = _Attempt(check)
        found = Round([], {}, {})
        for name in self._checks:
            attempt = self._running[name]
            if not attempt.ended(until):
                message = f"check {name} has not ended for {attempt.age:.0f} s: a device does not answer"
                found.faults.append(Fault(name, "", "CheckHangs", message))
                continue
            del self._running[name]
            found.faults.extend(attempt.faults)
            found.seconds[name] = attempt.seconds
            if attempt.unknown:
                found.unknown[name] = attempt.unknown
        return found


class Confirmation:
    """Holds a fault back until several rounds in a row have found it."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def confirmed(self, faults: list[Fault]) -> tuple[list[Fault], bool]:
        """Returns the confirmed faults, and true if others wait for their confirmation."""
        keys = {fault.key for fault in faults}
        self._counts = Counter({key: self._counts[key] + 1 for key in keys})
        sure = [fault for fault in faults if self._counts[fault.key] >= self._rounds]
        return sure, len(sure) < len(faults)
