"""Transports of the measured data: the interfaces that gloo used, or the channels in NCCL's log."""

from __future__ import annotations

import fcntl
import ipaddress
import os
import re
import socket
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

ESTABLISHED = "01"
SIOCGIFADDR = 0x8915
# The end of NCCL's line for each channel, such as "Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0/GDRDMA".
NCCL_CHANNEL = re.compile(r" via (?:(?P<local>P2P|SHM)\b|NET/(?P<net>[^/\n]+))")


def watch_nccl() -> Path | None:
    """Make NCCL log the transport of each channel, and return the folder; None if the user has set NCCL_DEBUG."""
    if "NCCL_DEBUG" in os.environ:
        return None
    folder = Path(tempfile.mkdtemp(prefix="nccl-"))
    # NCCL replaces %p by the process id: each process that inherits this environment writes its own file.
    os.environ.update(NCCL_DEBUG="INFO", NCCL_DEBUG_SUBSYS="INIT", NCCL_DEBUG_FILE=str(folder / "%p.log"))
    return folder


def nccl_transports(folder: Path | None) -> set[str]:
    """Returns the transports in NCCL's logs: `p2p`, `shm`, `net/IB`, `net/Socket`, `net/<plugin>`."""
    files = folder.iterdir() if folder is not None else ()
    text = "".join(file.read_text(errors="replace") for file in files)
    return {
        match["local"].lower() if match["local"] else "net/" + match["net"].replace(" ", "-")
        for match in NCCL_CHANNEL.finditer(text)
    }


def interfaces(store_port: int) -> set[str]:
    """Returns the interfaces of this process's TCP connections, except those to the store (Linux).

    Source of the columns: https://docs.kernel.org/networking/proc_net_tcp.html
    """
    sockets = set(_own_sockets())
    owners = dict(_owners())
    found = set()
    for table in (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6")):
        rows = table.read_text().splitlines()[1:] if table.exists() else []
        for columns in map(str.split, rows):
            local, port = columns[1].split(":")
            ports = {int(port, 16), int(columns[2].split(":")[1], 16)}
            if columns[3] == ESTABLISHED and columns[9] in sockets and store_port not in ports:
                address = _address(local)
                found.add("lo" if address.is_loopback else owners.get(str(address), str(address)))
    return found


def _own_sockets() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:  # the listing's own descriptor is closed by now
            continue
        if target.startswith("socket:["):
            yield target.removeprefix("socket:[").removesuffix("]")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    # The kernel prints each 32-bit word of the address in the machine's byte order.
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _owners() -> Iterator[tuple[str, str]]:
    """Yields address and name of each interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(probe, SIOCGIFADDR, struct.pack("256s", name.encode()))
            except OSError:  # it has no IPv4 address
                continue
            yield socket.inet_ntoa(answer[20:24]), name
    table = Path("/proc/self/net/if_inet6")
    for row in table.read_text().splitlines() if table.exists() else ():
        columns = row.split()
        yield str(ipaddress.IPv6Address(int(columns[0], 16))), columns[5]
