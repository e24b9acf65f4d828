"""PyTorch's description of a checkpoint's tensors, `.metadata`: a pickle, read without running what it asks for."""

import pickle
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import filesystem, metadata
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, TensorStorageMetadata

from trainer.checkpoint.manifest import InvalidCheckpointError

NAME = ".metadata"
# What PyTorch 2.14 and 2.15 write; none of these does more than to hold what it is given, or to look a name up.
# Anything else that a pickle names could run code of whoever wrote it.
_KNOWN = {
    ("torch", "Size"): torch.Size,
    ("torch.serialization", "_get_layout"): {"torch.strided": torch.strided}.__getitem__,
    (filesystem.__name__, "_StorageInfo"): filesystem._StorageInfo,
    **{
        (metadata.__name__, name): getattr(metadata, name)
        for name in (
            "_MEM_FORMAT_ENCODING",
            "ChunkStorageMetadata",
            "Metadata",
            "MetadataIndex",
            "StorageMeta",
            "TensorProperties",
            "TensorStorageMetadata",
        )
    },
}


def read(folder: Path, names: Collection[str]) -> Metadata:
    """Which tensors the checkpoint in `folder` has, and where in its files, which are called `names`.

    Raises:
        InvalidCheckpointError: It cannot be read, asks for more than data, or describes something else than tensors in
            these files.
    """
    try:
        with (folder / NAME).open("rb") as stream:
            found = _Unpickler(stream).load()
    except InvalidCheckpointError:
        raise
    # A pickle that is not what PyTorch wrote may fail in any way.
    except Exception as error:
        raise InvalidCheckpointError(f"cannot read {NAME}: {error}") from error
    if not _describes_tensors(found, names):
        raise InvalidCheckpointError(f"{NAME} describes something else than tensors in the files of the checkpoint")
    checked: Metadata = found
    return checked


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str, /) -> Callable[..., Any]:
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            dtype: Any = getattr(torch, name)
            return dtype  # type: ignore[no-any-return]  # pickle looks for whatever has a name, not only for classes
        try:
            return _KNOWN[module, name]  # type: ignore[no-any-return]
        except KeyError:
            raise InvalidCheckpointError(f"{NAME} asks for {module}.{name}, which is no part of a checkpoint") from None


def _describes_tensors(found: object, names: Collection[str]) -> bool:
    if not isinstance(found, Metadata) or not isinstance(found.state_dict_metadata, dict):
        return False
    # Whatever is no tensor would be unpickled by PyTorch when it is loaded.
    tensors = all(
        isinstance(name, str) and type(described) is TensorStorageMetadata
        for name, described in found.state_dict_metadata.items()
    )
    return (
        tensors
        and isinstance(found.storage_data, dict)
        and all(
            isinstance(index, MetadataIndex) and _is_stored_in(place, names)
            for index, place in found.storage_data.items()
        )
    )


def _is_stored_in(place: object, names: Collection[str]) -> bool:
    return (
        type(place) is filesystem._StorageInfo
        and place.relative_path in names
        # Extensions are code, which a checkpoint of ours does not need.
        and not getattr(place, "transform_descriptors", None)
    )
