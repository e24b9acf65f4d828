"""Connections between supervisors: the kernel closes those of a pod that is killed, before any heartbeat is missed."""

from __future__ import annotations

import re
import socket
from contextlib import suppress

_CONNECT_SECONDS = 0.5
_LIMIT = 64
# Each takes a file descriptor of the supervisor; the heartbeats of further nodes are left.
_MOST = 512
_GOODBYE = b"."
# The number of the node, and a goodbye when its supervisor ends by itself.
_SAID = re.compile(rb"(\d+) (\.?)")


class PeerWatch:
    """The connections to the node that decides which nodes go on. For one thread.

    A connection that ends without a goodbye is of a supervisor that was killed. A node that is paused, cut off, or has
    lost its power ends no connection.
    """

    def __init__(self) -> None:
        if socket.has_dualstack_ipv6():
            self._server = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=_MOST)
        else:
            self._server = socket.create_server(("", 0), backlog=_MOST)
        self._server.setblocking(False)
        self._said: dict[socket.socket, bytes] = {}
        self._killed: set[int] = set()

    @property
    def port(self) -> int:
        """The port for the others to connect to."""
        return int(self._server.getsockname()[1])

    def killed(self) -> frozenset[int]:
        """Returns the nodes whose supervisor was killed. Does not wait."""
        self._accept()
        for connection in list(self._said):
            self._read(connection)
        return frozenset(self._killed)

    def close(self) -> None:
        """Closes all connections."""
        for connection in (self._server, *self._said):
            connection.close()
        self._said.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while len(self._said) < _MOST:
                connection, _ = self._server.accept()
                connection.setblocking(False)
                self._said[connection] = b""

    def _read(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(_LIMIT)
        except BlockingIOError:
            return
        except OSError:  # the network has reset it, which says nothing of the node
            self._drop(connection)
            return
        self._said[connection] += data
        if not data or len(self._said[connection]) > _LIMIT:
            said = _SAID.fullmatch(self._said[connection])
            if said and not said[2]:
                self._killed.add(int(said[1]))
            self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        connection.close()
        del self._said[connection]


class PeerConnection:
    """The connection of this node to a `PeerWatch`."""

    def __init__(self, host: str, port: int, node: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=_CONNECT_SECONDS)
        self._socket.sendall(b"%d " % node)

    def close(self) -> None:
        """Says goodbye: this supervisor ends by itself."""
        with suppress(OSError):
            self._socket.sendall(_GOODBYE)
        self._socket.close()
