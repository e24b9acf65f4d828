"""The store of the rendezvous."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import NoReturn

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__

from ..errors import TrainerError
from .child import FORWARDED_SIGNALS, fork_child

_CONNECT_SECONDS = 60.0


def connect_store(timeout_seconds: float = _CONNECT_SECONDS) -> TCPStore:
    """Opens a dedicated connection to the launcher's store: a blocking wait would block all users of a shared one.

    Raises:
        RuntimeError: The store does not respond.
    """
    return _store(is_master=False, timeout_seconds=timeout_seconds)


def host_store() -> None:
    """Hosts the store in a child process that ends with this one and outlives the ranks.

    Raises:
        TrainerError: The port is in use.
    """
    reader, writer = os.pipe()
    if not fork_child():
        _host(writer)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
    os.close(writer)
    with os.fdopen(reader) as said:
        if problem := said.read():
            raise TrainerError(f"cannot open the rendezvous store: {problem}: start the launcher again")


def _host(said: int) -> NoReturn:
    # The ranks need the store until they have saved, so it ignores the signals that end them.
    for number in (signal.SIGINT, *FORWARDED_SIGNALS):
        signal.signal(number, signal.SIG_IGN)
    try:
        store = _store(is_master=True, timeout_seconds=_CONNECT_SECONDS)
    except RuntimeError as error:
        os.write(said, str(error).encode())
        os._exit(1)
    os.close(said)
    while store:
        signal.pause()
    os._exit(0)


def _store(*, is_master: bool, timeout_seconds: float) -> TCPStore:
    return TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        is_master=is_master,
        wait_for_workers=False,
        timeout=timedelta(seconds=timeout_seconds),
    )
