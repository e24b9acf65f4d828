"""The store in which the ranks meet, over a connection of one's own."""

import os
from datetime import timedelta

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # documented, but missing in __all__

_CONNECT_SECONDS = 60.0


def connect() -> TCPStore:
    """A connection to the store that the launcher names. It lives with rank 0, or with the first node's torchrun.

    Whoever waits in a connection keeps others from it, so threads do not share one.

    Raises:
        RuntimeError: Nobody answers there.
    """
    return TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        is_master=False,
        wait_for_workers=False,
        timeout=timedelta(seconds=_CONNECT_SECONDS),
    )
