"""The store in which the ranks meet."""

import os
import signal
from datetime import timedelta
from typing import NoReturn

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__

from trainer.errors import TrainerError
from trainer.runtime.child import FORWARDED, fork

_CONNECT_SECONDS = 60.0


def connect(timeout_seconds: float = _CONNECT_SECONDS) -> TCPStore:
    """A connection of one's own to the store that the launcher names: whoever waits in it keeps others from it.

    Raises:
        RuntimeError: Nobody answers there.
    """
    return _store(is_master=False, timeout_seconds=timeout_seconds)


def host() -> None:
    """Opens the store in a process of its own, which ends with this one. It outlives the ranks.

    Raises:
        TrainerError: The port is taken.
    """
    reader, writer = os.pipe()
    if not fork():
        _host(writer)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    os.close(writer)
    with os.fdopen(reader) as said:
        if problem := said.read():
            raise TrainerError(f"cannot open the store in which the ranks meet: {problem}: start the launcher again")


def _host(said: int) -> NoReturn:
    # What ends the ranks of a node must leave them the store until they have saved.
    for number in (signal.SIGINT, *FORWARDED):
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
