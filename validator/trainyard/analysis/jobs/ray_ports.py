"""Ports of a node of Ray that are taken twice: `ray start` compares all of them before it starts.

Source: ray-project/ray 2.46.0 python/ray/_private/parameter.py (update_pre_selected_port) and
python/ray/scripts/scripts.py (start: the defaults of --min-worker-port and --max-worker-port). Port 0 is any free one.
Pull request 19541 of Ray 1.9 made the range of the workers ten times as large. Issues 14098 and 18053: Ray 1.3 compares
the ports, and releases of February 2021 did not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.document.lookup import decimal
from trainyard.facts.versions import before

# The range of the workers, if no option moves it.
FIRST, LAST = 10002, 19999
_LAST_BEFORE_1_9 = 10999
_OF_NODE = (
    "port", "object-manager-port", "node-manager-port", "ray-client-server-port", "dashboard-port",
    "dashboard-agent-grpc-port", "dashboard-agent-listen-port", "runtime-env-agent-port", "metrics-export-port",
)  # fmt: skip
_OF_WORKERS = ("min-worker-port", "max-worker-port", "worker-port-list")
PORTS = (*_OF_NODE, *_OF_WORKERS)


def taken_twice(options: Mapping[str, str], release: tuple[int, ...] | None) -> Iterator[tuple[str, str]]:
    """Yields the options whose port another part of the node has, and the words for that part.

    `options` have no dashes at the front. `release` is that of Ray, None if it is not known.
    """
    if before(release, (1, 3)):
        return
    workers, title = _workers(options, _LAST_BEFORE_1_9 if before(release, (1, 9)) else LAST)
    seen: dict[int, str] = {}
    for name in _OF_NODE:
        port = decimal(options.get(name, ""))
        if not port:
            continue
        if port in workers:
            yield name, title
        elif port in seen:
            yield name, f"has the port of {seen[port]}"
        seen.setdefault(port, name)


def _workers(options: Mapping[str, str], end: int) -> tuple[frozenset[int] | range, str]:
    """Returns the ports of the workers, and words for a port among them; none if they are not known."""
    given = [options.get(name) for name in _OF_WORKERS]
    if given[2] is not None:
        ports = [decimal(port.strip()) for port in given[2].split(",")]
        return frozenset(port for port in ports if port is not None), "is in worker-port-list"
    first, last = (FIRST if given[0] is None else decimal(given[0])), (end if given[1] is None else decimal(given[1]))
    if first is None or last is None or not first:
        return range(0), ""
    return range(first, last + 1), f"is one of the worker ports, {first} to {last}"
