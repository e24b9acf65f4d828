"""The tensors of a checkpoint, through torch.distributed.checkpoint: each rank writes and reads its own part."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta, TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from trainer.checkpoint import manifest, metadata
from trainer.checkpoint.files import Files
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

MODEL = "model."


def write(folder: Path, files: Files, state: Mapping[str, Tensor], copies: Mapping[str, Tensor], peers: Peers) -> None:
    """Writes `state` into `folder` through `files`. Collective.

    The layout over the ranks is that of `state`, the contents are `copies`: this rank's part of each, on the CPU.

    Raises:
        CheckpointError: A rank could not write its part.
    """
    try:
        save(
            dict(state),
            storage_writer=_Writer(folder, files),
            planner=_Planner(copies),
            process_group=peers.group,
            no_dist=peers.group is None,
        )
    except CheckpointException as error:
        raise _explained(error, peers) from error


def read(folder: Path, state: Mapping[str, Tensor], peers: Peers) -> None:
    """Reads the verified checkpoint in `folder` into the tensors of `state`. Collective.

    Neither needs to be spread over ranks as the other is.

    Raises:
        CheckpointError: The checkpoint has other tensors, or could not be read; those of `state` may be half read.
    """
    reader = _Reader(folder)
    peers.each(lambda: reader.open_for(state))
    _load(dict(state), reader, peers)


def read_model(folder: Path) -> dict[str, Tensor]:
    """The model's weights in the verified checkpoint in `folder`, whole and on the CPU, under their names in the model.

    Raises:
        CheckpointError: They could not be read.
    """
    reader = _Reader(folder)
    state = {
        name: torch.empty(described.size, dtype=described.properties.dtype)
        for name, described in reader.open().items()
        if name.startswith(MODEL)
    }
    _load(state, reader, Peers())
    return {name.removeprefix(MODEL): tensor for name, tensor in state.items()}


class _Writer(FileSystemWriter):
    """One file per rank, none of them written over."""

    def __init__(self, folder: Path, files: Files) -> None:
        # Copying ahead is for tensors on a GPU, and these are on the CPU.
        super().__init__(folder, per_thread_copy_ahead=0, overwrite=False)
        self.fs = files

    def storage_meta(self) -> StorageMeta:
        """Nothing: PyTorch would remember the temporary name of the folder, as a path that only some can read."""
        return StorageMeta()


class _Planner(DefaultSavePlanner):
    def __init__(self, copies: Mapping[str, Tensor]) -> None:
        super().__init__(flatten_state_dict=False, flatten_sharded_tensors=False)
        self._copies = copies

    def lookup_object(self, index: MetadataIndex) -> Any:
        """The copy, while the tensor itself is trained on."""
        return self._copies[index.fqn]


class _Reader(FileSystemReader):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder

    def open(self) -> Mapping[str, TensorStorageMetadata]:
        """The tensors that are there."""
        self._metadata = metadata.read(self._folder, manifest.read(self._folder))
        return cast(Mapping[str, TensorStorageMetadata], self._metadata.state_dict_metadata)

    def open_for(self, wanted: Mapping[str, Tensor]) -> None:
        """Raises CheckpointError unless the tensors that are there are those of `wanted`."""
        saved = {name: list(described.size) for name, described in self.open().items()}
        shapes = {name: list(tensor.shape) for name, tensor in wanted.items()}
        for name in sorted(shapes.keys() | saved.keys()):
            if shapes.get(name) != saved.get(name):
                raise CheckpointError(
                    f"checkpoint {self._folder} is of another model: its tensor {name} has shape {saved.get(name)}, "
                    f"and this run's has {shapes.get(name)}: write another --checkpoint-dir to start afresh"
                )

    def read_metadata(self, *_: Any, **__: Any) -> Metadata:
        """What was read with care, where PyTorch would unpickle whatever is there."""
        return self._metadata


def _load(state: dict[str, Tensor], reader: _Reader, peers: Peers) -> None:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "torch.distributed is disabled")
            load(
                state,
                storage_reader=reader,
                planner=DefaultLoadPlanner(flatten_state_dict=False, flatten_sharded_tensors=False),
                process_group=peers.group,
                no_dist=peers.group is None,
            )
    except CheckpointException as error:
        raise CheckpointError(f"cannot read checkpoint {reader.path}: {_explained(error, peers)}") from error


def _explained(error: CheckpointException, peers: Peers) -> Exception:
    rank, (cause, _) = min(error.failures.items())
    return peers.explained(rank, cause)
