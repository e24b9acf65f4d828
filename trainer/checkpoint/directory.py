"""The checkpoint directory of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import CheckpointError
from ..runtime.log import log
from .contents import check_visible
from .lock import Lock
from .peers import Peers
from .publish import temporary_path
from .retention import remove_leftovers

# Linux' file server takes the locks of an NFSv4 client back that has been silent for 90 s.
LEASE_SECONDS = 100.0


def open_directory(
    directory: Path,
    lock: Lock,
    peers: Peers,
    *,
    lease_seconds: float = 0.0,
    takeover_seconds: float = 0.0,
    owner_before: str = "",
) -> None:
    """Creates and locks `directory`, and removes the leftovers of crashed runs. Collective.

    Args:
        directory: The checkpoint directory.
        lock: The lock of this process.
        peers: The ranks that use the directory.
        lease_seconds: The time to wait for the lock, which a node that died may still have on a file server.
        takeover_seconds: Not 0 if these ranks go on without the one that had the lock, which may be cut off and still
            write: then they wait for so long until they get the lock, or `owner_before` has it.
        owner_before: The owner of the lock while the lost rank had it. If that is still so, that rank is paused.

    Raises:
        CheckpointError: Another run writes there, a rank sees another directory, or a rank cannot write there.
    """
    peers.on_rank_zero(
        lambda: (
            _take_over(directory, lock, takeover_seconds, owner_before)
            if takeover_seconds
            else _open(directory, lock, lease_seconds)
        )
    )
    if peers.size == 1:
        return
    # Fail before training starts, rather than hours later in the first save.
    probe = directory / peers.on_rank_zero(lambda: _probe(directory))
    try:
        peers.on_all_ranks(lambda: _write_into(probe, peers.rank))
    finally:
        if peers.rank == 0:
            shutil.rmtree(probe, ignore_errors=True)


def _open(directory: Path, lock: Lock, seconds: float) -> None:
    if lock.acquire_patiently(directory, seconds):
        remove_leftovers(directory)


def _take_over(directory: Path, lock: Lock, seconds: float, owner_before: str) -> None:
    if not lock.acquire_within(seconds, directory, owner_before=owner_before):
        raise CheckpointError(
            f"the first node is lost, and may still write to {directory}, because that is locked or its file system "
            "has no locks: this node waits until the first one is back; write a --checkpoint-dir with locks"
        )
    if lock.is_held:
        remove_leftovers(directory)
    else:
        log(f"goes on without the lock of {directory}: the lost rank 0 has it, and can only finish a save")


def _probe(directory: Path) -> str:
    probe = temporary_path(directory / "probe")
    probe.mkdir()
    return probe.name


def _write_into(probe: Path, rank: int) -> None:
    check_visible(probe, rank)
    try:
        (probe / str(rank)).touch(exist_ok=False)
    except OSError as error:
        raise CheckpointError(
            f"rank {rank} cannot write to checkpoint directory {probe.parent}: {error.strerror}: mount its volume with "
            "write access on every node"
        ) from error
