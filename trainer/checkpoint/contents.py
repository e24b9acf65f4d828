"""What is in the folder of one checkpoint.

- `.metadata`, `__<rank>_0.distcp`: the tensors, as torch.distributed.checkpoint lays them out
- `rng-<rank>.pt`: the random state of a rank
- `state.json`: progress, configuration, number of ranks, and what else is no tensor
- `manifest.json`: size and sha256 of each of the above
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from trainer.checkpoint import manifest, metadata, rng, state, tensors
from trainer.checkpoint.files import Entry, Files
from trainer.checkpoint.manifest import InvalidCheckpointError
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.state import State
from trainer.errors import CheckpointError


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What a rank writes."""

    state: State
    random: rng.RngState
    tensors: MutableMapping[str, Tensor]

    def write(self, folder: Path, copies: Mapping[str, Tensor], peers: Peers) -> Mapping[str, Entry]:
        """Writes this rank's files into `folder`, which rank 0 has made. Collective.

        `copies` are this rank's parts of `tensors`, on the CPU, since the tensors may change meanwhile.

        Raises:
            CheckpointError: A rank could not.
        """
        files = Files()
        peers.each(lambda: self._write_small(folder, files, peers))
        tensors.write(folder, files, self.tensors, copies, peers)
        return files.entries

    def _write_small(self, folder: Path, files: Files, peers: Peers) -> None:
        check_seen(folder, peers.rank)
        files.write(folder / rng.file_name(peers.rank), lambda stream: torch.save(self.random, stream))
        if peers.rank == 0:
            files.write(folder / state.NAME, lambda stream: stream.write(self.state.as_json()))


def check_seen(folder: Path, rank: int) -> None:
    """Raises CheckpointError unless `folder`, which rank 0 has made, is there for `rank` too."""
    if not folder.is_dir():
        raise CheckpointError(
            f"rank {rank} does not see what rank 0 writes to {folder.parent}: mount the same volume there on every node"
        )


def check(path: Path, step: int) -> State:
    """What the published, verified checkpoint `path` of `step` is about.

    Raises:
        InvalidCheckpointError: Its files are as they were written, but are not those of a checkpoint of this trainer.
    """
    names = manifest.read(path)
    found = state.read(path, step)
    for name in (state.NAME, metadata.NAME, *map(rng.file_name, range(found.world_size))):
        if name not in names:
            raise InvalidCheckpointError(f"{manifest.NAME} does not list {name}")
    metadata.read(path, names)
    return found
