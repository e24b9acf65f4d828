"""The resources of this machine: accelerators, a free port, the loopback interface."""

from __future__ import annotations

import contextlib
import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from trainyard import processors

_MEMORY = Path("/proc/meminfo")
# Of control groups, version 2 and version 1.
_MEMORY_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class Machine(NamedTuple):
    """The facts about this machine that a plan needs.

    `gpus` are the accelerators, by their names in CUDA_VISIBLE_DEVICES; `port` is a free one. `memory` are the bytes
    that programs can still take, None if the system does not tell.
    """

    python: str
    port: int
    gpus: tuple[str, ...]
    loopback: str | None
    environment: Mapping[str, str]
    processors: int = 1
    memory: int | None = None


def here(python: str) -> Machine:
    """Returns this machine. Starts no process to find out."""
    return Machine(python, _free_port(), _gpus(), _loopback(), os.environ, processors.available(), _memory())


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


def _gpus() -> tuple[str, ...]:
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return tuple(name.strip() for name in visible.split(",") if name.strip() not in ("", "-1"))
    # In a container these are the devices that it was given, not all that the driver knows.
    nvidia = [path for path in Path("/dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name)]
    return tuple(map(str, range(len(nvidia) or _amd_gpus())))


def _amd_gpus() -> int:
    """Returns the number of AMD GPUs. The driver lists every processor; only GPUs have an identifier other than 0."""
    count = 0
    for path in Path("/sys/class/kfd/kfd/topology/nodes").glob("*/gpu_id"):
        with contextlib.suppress(OSError):
            count += path.read_text().strip() != "0"
    return count


def _loopback() -> str | None:
    """Returns the name of the loopback interface: `lo` on Linux, `lo0` on macOS."""
    names = [name for _, name in socket.if_nameindex()]
    return next((name for name in ("lo", "lo0") if name in names), None)


def _memory() -> int | None:
    """Returns the available memory, or the limit of the container if that is less; None on systems without /proc."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB", _MEMORY.read_text(), re.MULTILINE)
    except OSError:
        return None
    return min([int(found[1]) << 10, *_container_limits()]) if found else None


def _container_limits() -> Iterator[int]:
    for path in _MEMORY_LIMITS:
        # Without a limit, version 2 has the word `max`.
        with contextlib.suppress(OSError, ValueError):
            yield int(path.read_text())
