"""The limit of open files of this process."""

from __future__ import annotations

import resource
from contextlib import suppress

_WANTED = 65536


def raise_file_limit() -> None:
    """Raises the limit, as far as the hard limit allows.

    A pod may start with 1,024. A rank keeps each mapped file of tokens open, and a connection to each other rank.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
