"""The files in the folder of one checkpoint.

- `.metadata`, `__<rank>_0.distcp`: the tensors, in the format of torch.distributed.checkpoint
- `state.json`: progress, configuration, and all else that is not a tensor
- `manifest.json`: size and sha256 of each file above
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from ..errors import CheckpointError
from . import manifest, metadata, tensors
from .files import DigestingFileSystem, Entry
from .manifest import InvalidCheckpointError, UnreadableCheckpointError
from .peers import Peers
from .staging import Staged
from .state import NAME as STATE_NAME
from .state import CheckpointState, read_state


def write_contents(folder: Path, state: CheckpointState, staged: Staged, peers: Peers) -> Mapping[str, Entry]:
    """Writes this rank's files into `folder`, which rank 0 has created. Collective.

    Args:
        folder: The folder of the new checkpoint.
        state: What is not tensors.
        staged: The tensors and shards that this rank writes.
        peers: The ranks that write together.

    Returns:
        The files written by this rank.

    Raises:
        CheckpointError: A rank could not write.
    """
    files = DigestingFileSystem()

    def write_state() -> None:
        check_visible(folder, peers.rank)
        if peers.rank == 0:
            files.write(folder / STATE_NAME, lambda stream: stream.write(state.as_json()))

    peers.on_all_ranks(write_state)
    tensors.write_tensors(folder, files, staged, peers)
    return files.entries


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
    found = read_state(path, step)
    for name in (STATE_NAME, metadata.NAME):
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
