"""Go's build cache: several GB of intermediate objects that finished builds do not need."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.harness.cluster import cache, host

# One build adds up to 3 GiB, while images and nodes are written beside it.
SHORT = 10 * host.GIB
# The locks of those who build, and of those who will.
_BUILT, _WANTED = "go-build.lock", "go-build-wanted.lock"


def folder() -> Path:
    """Return the value for GOCACHE."""
    return cache.root() / "go" / "build"


@contextmanager
def wanted() -> Iterator[None]:
    """Keep the cache from `drop` between builds: more are to come."""
    with _locked(_WANTED, fcntl.LOCK_SH):
        yield


@contextmanager
def building() -> Iterator[None]:
    """Keep the cache while one process builds. Objects of earlier builds go first where the disk gets full."""
    if host.free_space(cache.root()) < SHORT:
        _remove()
    with _locked(_BUILT, fcntl.LOCK_SH):
        yield


def drop() -> None:
    """Remove the cache, unless somebody builds or will build more."""
    with suppress(BlockingIOError), _locked(_WANTED, fcntl.LOCK_EX | fcntl.LOCK_NB):
        _remove()


def _remove() -> None:
    with suppress(BlockingIOError), _locked(_BUILT, fcntl.LOCK_EX | fcntl.LOCK_NB):
        shutil.rmtree(folder(), ignore_errors=True)


@contextmanager
def _locked(name: str, how: int) -> Iterator[None]:
    """Lock a file in a way that several processes may share, which the locks of `cache` are not."""
    path = cache.root() / "locks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        fcntl.flock(file, how)
        yield
