"""InfiniBand and RoCE: state, rate and error counters of the ports, from sysfs.

Files: Documentation/ABI/stable/sysfs-class-infiniband of the kernel. Without a list of expected ports, a port counts
once it was active: a port without a cable looks the same as one whose cable has failed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from nodehealth.config import Links
from nodehealth.fault import Fault
from nodehealth.memory import Memory

CHECK = "links"
ACTIVE = "4: ACTIVE"
HOUR = 3600.0
_RATE = "rate of "


class LinkCheck:
    """Compares the ports with what they were, and their counters with the values of the last hour."""

    def __init__(
        self, settings: Links, sysfs: Path, memory: Memory, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._folder = sysfs / "class" / "infiniband"
        self._memory = memory
        self._clock = clock
        self._counts: dict[tuple[str, str], deque[tuple[float, int]]] = {}

    def __call__(self) -> list[Fault]:
        """Returns the faults of all ports."""
        ports = {f"{port.parents[1].name}/{port.name}": port for port in sorted(self._folder.glob("*/ports/*"))}
        faults = [fault for name, port in ports.items() for fault in self._port(name, port)]
        lost = [name for name in self._wanted(ports) if name not in ports]
        return faults + [
            Fault(CHECK, name, "LinkMissing", f"port {name} is gone: the adapter is lost") for name in lost
        ]

    def _wanted(self, ports: dict[str, Path]) -> list[str]:
        expected = [name if "/" in name else f"{name}/1" for name in self._settings.expected]
        return expected or [*self._memory.names(_RATE), *(name for name in ports if self._active(ports[name]))]

    def _active(self, port: Path) -> bool:
        return _text(port / "state") == ACTIVE

    def _port(self, name: str, port: Path) -> Iterator[Fault]:
        if name not in self._wanted({name: port}):
            return
        if not self._active(port):
            states = f"{_word(port / 'state')}, {_word(port / 'phys_state')}"
            yield Fault(CHECK, name, "LinkDown", f"port {name} is down ({states})")
            return
        rate = _rate(port)
        best = self._memory.raise_to(f"{_RATE}{name}", rate)
        if rate < best:
            yield Fault(CHECK, name, "LinkSlow", f"port {name} runs at {rate:g} Gb/s; it had {best:g} Gb/s")
        yield from self._counters(name, port)

    def _counters(self, name: str, port: Path) -> Iterator[Fault]:
        moment = self._clock()
        for counter, most in self._settings.max_per_hour.items():
            count = next(
                (
                    found
                    for place in ("counters", "hw_counters")
                    if (found := _number(port / place / counter)) is not None
                ),
                None,
            )
            if count is None:
                continue
            past = self._counts.setdefault((name, counter), deque())
            if past and count < past[-1][1]:
                past.clear()  # the counter was reset
            past.append((moment, count))
            while past[0][0] < moment - HOUR:
                past.popleft()
            added = count - past[0][1]
            if added > most:
                message = f"{counter} of port {name} counted {added} in the last hour, more than {most}"
                yield Fault(CHECK, name, "LinkErrors", message)


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def _word(file: Path) -> str:
    return _text(file).rpartition(" ")[2] or "unknown"


def _rate(port: Path) -> float:
    """Returns the rate of a port in Gb/s, of a text such as `400 Gb/sec (4X NDR)`; 0 if it has none."""
    try:
        return float(_text(port / "rate").split()[0])
    except (IndexError, ValueError):
        return 0.0


def _number(file: Path) -> int | None:
    text = _text(file)
    return int(text) if text.isdigit() else None
