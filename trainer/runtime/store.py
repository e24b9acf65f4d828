"""The store of the rendezvous, and a second one on another node, for those that go on without the first."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__

from ..errors import TrainerError
from .child import FORWARDED_SIGNALS, fork_child

_CONNECT_SECONDS = 60.0
_START_SECONDS = 2.0
_PROBE_SECONDS = 0.02
_RETRY_SECONDS = 0.2
_ANY_PORT = 9


def connect_store(timeout_seconds: float = _CONNECT_SECONDS, address: str = "") -> TCPStore:
    """Opens a dedicated connection to a store: a blocking wait would block all users of a shared one.

    Args:
        timeout_seconds: The timeout of the connection and of each wait.
        address: What `host_backup` has returned; the store of the ranks if it is empty.

    Raises:
        RuntimeError: The store does not respond.
    """
    host, port = split_address(address) if address else _own_address()
    _wait_for_listener(host, port)
    return _store(host, port, timeout_seconds=timeout_seconds)


def host_store() -> None:
    """Hosts the store of the ranks in a child process that ends with this one and outlives the ranks.

    Raises:
        TrainerError: The port is in use.
    """
    _host(*_own_address())


def host_backup() -> str:
    """Hosts another store, in another such child process, and returns its address for other nodes.

    Raises:
        TrainerError: The host of the store of the ranks has no address.
    """
    own = address_towards(_own_address()[0])
    return f"{_host(own, 0)} {own}"


def split_address(address: str) -> tuple[str, int]:
    """Returns the host and the port of an address that `host_backup` has returned."""
    port, host = address.split(" ")
    return host, int(port)


def address_towards(host: str) -> str:
    """Returns the address of this machine from which `host` is reached.

    Raises:
        TrainerError: The host has no address.
    """
    deadline = time.monotonic() + _CONNECT_SECONDS
    while True:
        try:
            family = socket.getaddrinfo(host, _ANY_PORT, type=socket.SOCK_DGRAM)[0][0]
            with socket.socket(family, socket.SOCK_DGRAM) as route:
                route.connect((host, _ANY_PORT))  # sends nothing
                return str(route.getsockname()[0])
        except OSError as error:
            # A pod has no name in the DNS for some seconds after its node was not ready.
            if time.monotonic() > deadline:
                raise TrainerError(f"cannot find {host}: {error.strerror}: check the DNS of the cluster") from error
        time.sleep(_RETRY_SECONDS)


def _wait_for_listener(host: str, port: int) -> None:
    """Waits a moment for a store that is about to start, which torch itself tries only once or twice per second."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError):
            socket.create_connection((host, port), timeout=_START_SECONDS).close()
            return
        time.sleep(_PROBE_SECONDS)


def _host(host: str, port: int) -> int:
    """Hosts a store in a child process, and returns its port, a free one for port 0."""
    reader, writer = os.pipe()
    if not fork_child():
        _serve(host, port, writer)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    if not said.isdecimal():
        raise TrainerError(f"cannot open the rendezvous store: {said}: start the launcher again")
    return int(said)


def _serve(host: str, port: int, pipe: int) -> NoReturn:
    # The ranks need the store until they have saved, so it ignores the signals that end them.
    for number in (signal.SIGINT, *FORWARDED_SIGNALS):
        signal.signal(number, signal.SIG_IGN)
    try:
        store = _store(host, port, is_master=True)
    except RuntimeError as error:
        os.write(pipe, str(error).encode())
        os._exit(1)
    os.write(pipe, str(store.port).encode())
    os.close(pipe)
    while store:
        signal.pause()
    os._exit(0)


def _store(host: str, port: int, *, is_master: bool = False, timeout_seconds: float = _CONNECT_SECONDS) -> TCPStore:
    timeout = timedelta(seconds=timeout_seconds)
    return TCPStore(host, port, is_master=is_master, wait_for_workers=False, timeout=timeout)


def _own_address() -> tuple[str, int]:
    return os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
