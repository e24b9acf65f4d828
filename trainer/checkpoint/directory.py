"""The directory of checkpoints, taken for one run."""

import shutil
from pathlib import Path

from trainer.checkpoint.contents import check_seen
from trainer.checkpoint.lock import Lock
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.publish import temporary_for
from trainer.checkpoint.retention import remove_leftovers
from trainer.errors import CheckpointError


def take(directory: Path, lock: Lock, peers: Peers) -> None:
    """Creates `directory`, takes its `lock`, clears it of what the dead have left. Collective.

    Raises:
        CheckpointError: Another run writes there, a rank does not see the same directory, or may not write there.
    """
    peers.first(lambda: _take(directory, lock))
    if peers.size == 1:
        return
    # Now, not in the first save: nobody may be looking any more by then.
    probe = directory / peers.first(lambda: _probe(directory))
    try:
        peers.each(lambda: _write_into(probe, peers.rank))
    finally:
        if peers.rank == 0:
            shutil.rmtree(probe, ignore_errors=True)


def _take(directory: Path, lock: Lock) -> None:
    if lock.take(directory):
        remove_leftovers(directory)


def _probe(directory: Path) -> str:
    probe = temporary_for(directory / "probe")
    probe.mkdir()
    return probe.name


def _write_into(probe: Path, rank: int) -> None:
    check_seen(probe, rank)
    try:
        (probe / str(rank)).touch(exist_ok=False)
    except OSError as error:
        raise CheckpointError(
            f"rank {rank} cannot write to checkpoint directory {probe.parent}: {error.strerror}: mount its volume with "
            "write access on every node"
        ) from error
