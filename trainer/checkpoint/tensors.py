"""The tensors of a checkpoint. Each rank reads and writes its own shards through torch.distributed.checkpoint."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.filesystem import FileSystemReader, FileSystemWriter
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, StorageMeta, TensorStorageMetadata
from torch.distributed.checkpoint.planner import ReadItem, SavePlan
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from ..errors import CheckpointError
from . import manifest, metadata
from .files import DigestingFileSystem
from .manifest import InvalidCheckpointError
from .peers import Peers
from .staging import Staged

MODEL = "model."


def write_tensors(folder: Path, files: DigestingFileSystem, staged: Staged, peers: Peers) -> None:
    """Writes what was staged into `folder` through `files`. Collective.

    Raises:
        CheckpointError: A rank could not write its part.
    """
    try:
        with _without_warnings():
            save(
                {},  # all that PyTorch asks for is in the plan
                storage_writer=_Writer(folder, files),
                planner=_Planner(staged),
                process_group=peers.group,
                no_dist=peers.group is None,
            )
    except CheckpointException as error:
        raise _explain(error, peers) from error


def read_tensors(folder: Path, state: Mapping[str, Tensor], peers: Peers) -> None:
    """Reads the verified checkpoint in `folder` into the tensors of `state`, however each is sharded. Collective.

    Raises:
        InvalidCheckpointError: The checkpoint has other tensors, or their files cannot be decoded.
        CheckpointError: A file could not be read. After each error, the tensors of `state` may be partly read.
    """
    reader = _Reader(folder)
    peers.on_all_ranks(lambda: reader.open_matching(state))
    _load(dict(state), reader, peers)


def read_model(folder: Path) -> dict[str, Tensor]:
    """Returns the full weights in the verified checkpoint in `folder`, on the CPU, by their names in the model.

    Raises:
        CheckpointError: The weights could not be read.
    """
    reader = _Reader(folder)
    state = {
        name: torch.empty(described.size, dtype=described.properties.dtype)
        for name, described in reader.open().items()
        if name.startswith(MODEL)
    }
    try:
        _load(state, reader, Peers())
    except InvalidCheckpointError as reason:
        raise CheckpointError(f"checkpoint {folder}: {reason}") from reason
    return {name.removeprefix(MODEL): tensor for name, tensor in state.items()}


class _Writer(FileSystemWriter):
    """Writes one file per rank and never overwrites a file."""

    def __init__(self, folder: Path, files: DigestingFileSystem) -> None:
        # Copying ahead only helps with tensors on a GPU; these are on the CPU.
        super().__init__(folder, per_thread_copy_ahead=0, overwrite=False)
        self.fs = files

    def storage_meta(self) -> StorageMeta:
        """Returns nothing: PyTorch would store the temporary name of the folder, as a path that is not portable."""
        return StorageMeta()


class _Planner(DefaultSavePlanner):
    """Hands PyTorch the plan by which the tensors were staged."""

    def __init__(self, staged: Staged) -> None:
        super().__init__(flatten_state_dict=False, flatten_sharded_tensors=False)
        self._staged = staged

    def create_local_plan(self) -> SavePlan:
        """Returns an empty plan: the ranks have already planned together."""
        return SavePlan([])

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """Returns the description of the tensors. Called on rank 0, which has it."""
        assert self._staged.plan.metadata is not None  # noqa: S101
        return all_plans, self._staged.plan.metadata

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """Returns what this rank writes, in the files that `new_plan` names."""
        return replace(new_plan, items=list(self._staged.plan.items))

    def lookup_object(self, index: MetadataIndex) -> Any:
        """Returns the copy, because training changes the tensor itself."""
        return self._staged.copies[index.fqn]


class _LoadPlanner(DefaultLoadPlanner):
    def __init__(self, on_read: Callable[[], None]) -> None:
        super().__init__(flatten_state_dict=False, flatten_sharded_tensors=False)
        self._on_read = on_read

    def commit_tensor(self, read_item: ReadItem, tensor: Tensor) -> None:
        """Called after each tensor, or each part of a tensor, that was read."""
        super().commit_tensor(read_item, tensor)
        self._on_read()


class _Reader(FileSystemReader):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._folder = folder

    def open(self) -> Mapping[str, TensorStorageMetadata]:
        """Returns the tensors in the checkpoint."""
        self._metadata = metadata.read_metadata(self._folder, manifest.read_manifest(self._folder))
        return cast(Mapping[str, TensorStorageMetadata], self._metadata.state_dict_metadata)

    def open_matching(self, wanted: Mapping[str, Tensor]) -> None:
        """Raises InvalidCheckpointError unless the checkpoint has exactly the tensors of `wanted`."""
        saved = {name: list(described.size) for name, described in self.open().items()}
        shapes = {name: list(tensor.shape) for name, tensor in wanted.items()}
        for name in sorted(shapes.keys() | saved.keys()):
            if shapes.get(name) != saved.get(name):
                raise InvalidCheckpointError(
                    f"it is of another model: its tensor {name} has shape {saved.get(name)}, and this run's has "
                    f"{shapes.get(name)}"
                )

    def read_metadata(self, *_: Any, **__: Any) -> Metadata:
        """Returns the metadata that were read safely; PyTorch would unpickle the file."""
        return self._metadata


def _load(state: dict[str, Tensor], reader: _Reader, peers: Peers) -> None:
    try:
        with _without_warnings():
            load(
                state,
                storage_reader=reader,
                planner=_LoadPlanner(peers.on_read),
                process_group=peers.group,
                no_dist=peers.group is None,
            )
    except CheckpointException as error:
        reason = f"cannot read its tensors: {_explain(error, peers)}"
        if any(isinstance(cause, OSError) for cause, _ in error.failures.values()):
            raise CheckpointError(f"checkpoint {reader.path}: {reason}") from error
        raise InvalidCheckpointError(reason) from error


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Context manager: PyTorch warns of a process without others."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "torch.distributed is disabled")
        yield


def _explain(error: CheckpointException, peers: Peers) -> Exception:
    rank, (cause, _) = min(error.failures.items())
    return peers.explain(rank, cause)
