"""The network interfaces of this process's TCP connections, read from the kernel (Linux)."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

_ESTABLISHED = "01"
_SIOCGIFADDR = 0x8915


def interfaces_of_connections(excluded_port: int) -> set[str]:
    """Returns the interfaces that own the local addresses of this process's established TCP connections.

    Connections from or to `excluded_port` are ignored: the rendezvous store carries no gradients. An address that no
    interface owns is returned itself.
    """
    owned = _own_socket_inodes()
    owners = _owners_of_ipv4_addresses() | _owners_of_ipv6_addresses()
    names = set()
    for local, local_port, remote_port, inode in _established():
        if inode in owned and excluded_port not in (local_port, remote_port):
            names.add("lo" if local.is_loopback else owners.get(str(local), str(local)))
    return names


def _own_socket_inodes() -> set[str]:
    inodes = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except FileNotFoundError:  # closed since the listing, like the descriptor of the listing itself
            continue
        if target.startswith("socket:["):
            inodes.add(target[len("socket:[") : -1])
    return inodes


def _established() -> Iterator[tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int, int, str]]:
    """Yields local address, local port, remote port and inode of each established connection in this network namespace.

    Source of the columns: https://docs.kernel.org/networking/proc_net_tcp.html
    """
    for table in (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6")):
        if not table.exists():  # tcp6 is absent if IPv6 is disabled
            continue
        for row in table.read_text().splitlines()[1:]:
            columns = row.split()
            local, remote, state, inode = columns[1], columns[2], columns[3], columns[9]
            if state == _ESTABLISHED:
                address, port = local.split(":")
                yield _address(address), int(port, 16), int(remote.split(":")[1], 16), inode


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    # The kernel prints each 32-bit word of the address in the machine's byte order.
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    address = ipaddress.ip_address(struct.pack(f"={len(words)}I", *words))
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _owners_of_ipv4_addresses() -> dict[str, str]:
    owners = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(probe, _SIOCGIFADDR, struct.pack("256s", name.encode()))
            except OSError:  # the interface has no IPv4 address
                continue
            owners[socket.inet_ntoa(answer[20:24])] = name
    return owners


def _owners_of_ipv6_addresses() -> dict[str, str]:
    table = Path("/proc/self/net/if_inet6")
    if not table.exists():
        return {}
    rows = (row.split() for row in table.read_text().splitlines())
    return {str(ipaddress.IPv6Address(int(row[0], 16))): row[5] for row in rows}
