"""Free TCP ports of this machine."""

from __future__ import annotations

import contextlib
import secrets
import socket

# Linux gives ports from 32768 on to connections, and Kubernetes those from 30000 on to Services. So neither takes one
# of these between this choice and the start of the program.
PORTS = range(20000, 29000)


def free_port() -> int:
    """Returns a port that nothing listens on."""
    while True:
        port = secrets.choice(PORTS)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
