"""The transport of the collectives, observed rather than assumed.

A wrong interface or a missing RDMA device makes a run slow, not fail. So the log names the transport in use.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from .distributed import World
from .interfaces import interfaces_of_connections

# The end of the line that NCCL logs for each channel, for example
# "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA" (subsystem INIT).
_NCCL_CHANNEL = re.compile(r" via (?:(?P<local>P2P|SHM)\b|NET/(?P<net>[^/\n]+))")


def watch_nccl() -> Path | None:
    """Makes NCCL write its INIT log to a separate file. Call it before the process group is made.

    Returns:
        The file; None if the user has set NCCL_DEBUG, since that log is for the user.
    """
    if "NCCL_DEBUG" in os.environ:
        return None
    handle, name = tempfile.mkstemp(prefix="nccl-", suffix=".log")
    os.close(handle)
    os.environ.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT", NCCL_DEBUG_FILE=name)
    return Path(name)


def transport_advice(world: World, nccl_log: Path | None) -> str | None:
    """Returns what to set so that the transport becomes known, if NCCL's log is the user's."""
    if world.backend != "nccl" or world.size == 1 or nccl_log is not None:
        return None
    return (
        f"the transport is unknown, because NCCL_DEBUG is set ({os.environ.get('NCCL_DEBUG')}): unset NCCL_DEBUG, or "
        "set NCCL_DEBUG=INFO and look for ` via ` in NCCL's log"
    )


def describe_transport(world: World, nccl_log: Path | None) -> str:
    """Returns the transports in use on any rank: `tcp/eth0`, `p2p+net/IB`, ...; `none` for one process. Collective."""
    # The first collective opens the connections, not joining the group.
    world.sum([1.0])
    if world.backend == "nccl":
        seen = nccl_transports(nccl_log.read_text(errors="replace")) if nccl_log else set()
    else:
        store_port = int(os.environ.get("MASTER_PORT", "0"))
        seen = {f"tcp/{name}" for name in interfaces_of_connections(excluded_port=store_port)}
    if nccl_log:
        nccl_log.unlink()
    everywhere: set[str] = set().union(*world.gather(seen))
    if world.size == 1:
        return "none"
    return "+".join(sorted(everywhere)) or ("nccl/unknown" if world.backend == "nccl" else "tcp/unknown")


def nccl_transports(text: str) -> set[str]:
    """Returns the transports in NCCL's channel lines: `p2p`, `shm`, `net/IB`, `net/Socket`, `net/<plugin>`."""
    return {
        match["local"].lower() if match["local"] else "net/" + match["net"].replace(" ", "-")
        for match in _NCCL_CHANNEL.finditer(text)
    }
