"""The files in the folder of one checkpoint.

- `.metadata`, `__<rank>_0.distcp`: the tensors, in the format of torch.distributed.checkpoint
- `rng-<rank>.pt`: the random state of a rank
- `state.json`: progress, configuration, world size, and all else that is not a tensor
- `manifest.json`: size and sha256 of each file above
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from ..errors import CheckpointError
from . import manifest, metadata, rng, state, tensors
from .files import DigestingFileSystem, Entry
from .manifest import InvalidCheckpointError, UnreadableCheckpointError
from .peers import Peers
from .staging import Staged
from .state import CheckpointState


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What one rank writes besides tensors."""

    state: CheckpointState
    random: rng.RngState

    def write(self, folder: Path, staged: Staged, peers: Peers) -> Mapping[str, Entry]:
        """Writes this rank's files into `folder`, which rank 0 has created. Collective.

        Args:
            folder: The folder of the new checkpoint.
            staged: The tensors and shards that this rank writes.
            peers: The ranks that write together.

        Returns:
            The files written by this rank.

        Raises:
            CheckpointError: A rank could not write.
        """
        files = DigestingFileSystem()
        peers.on_all_ranks(lambda: self._write_small(folder, files, peers))
        tensors.write_tensors(folder, files, staged, peers)
        return files.entries

    def _write_small(self, folder: Path, files: DigestingFileSystem, peers: Peers) -> None:
        check_visible(folder, peers.rank)
        files.write(folder / rng.rng_file_name(peers.rank), lambda stream: torch.save(self.random, stream))
        if peers.rank == 0:
            files.write(folder / state.NAME, lambda stream: stream.write(self.state.as_json()))


def check_visible(folder: Path, rank: int) -> None:
    """Raises CheckpointError unless `rank` sees `folder`, which rank 0 has created."""
    if not folder.is_dir():
        raise CheckpointError(
            f"rank {rank} does not see what rank 0 writes to {folder.parent}: mount the same volume there on every node"
        )


def check_contents(path: Path, step: int) -> CheckpointState:
    """Returns the state in `path`, a published and verified checkpoint of `step`.

    Raises:
        InvalidCheckpointError: The files are intact but do not form a checkpoint of this trainer.
        UnreadableCheckpointError: A later version of the trainer, or another one of PyTorch, wrote the files.
    """
    names = manifest.read_manifest(path)
    found = state.read_state(path, step)
    # No more names than files: a forged world size could be any number.
    for name in (state.NAME, metadata.NAME, *map(rng.rng_file_name, range(min(found.world_size, len(names) + 1)))):
        if name not in names:
            raise InvalidCheckpointError(f"{manifest.NAME} does not list {name}")
    try:
        metadata.read_metadata(path, names)
    except InvalidCheckpointError as error:
        if _minor(found.torch) == _minor(torch.__version__):
            raise
        raise UnreadableCheckpointError(
            f"{error}; PyTorch {found.torch} wrote it and this is {torch.__version__}: use an image with PyTorch "
            f"{_minor(found.torch)}"
        ) from error
    return found


def _minor(version: str) -> str:
    return ".".join(version.split("+")[0].split(".")[:2])
