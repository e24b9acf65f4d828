"""PyTorch's description of the tensors in a checkpoint, `.metadata`: a pickle that is read without running its code."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Collection
from enum import EnumType
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch.distributed.checkpoint import filesystem, metadata
from torch.distributed.checkpoint.metadata import Metadata, MetadataIndex, TensorStorageMetadata

from .manifest import (
    METADATA_NAME,
    InvalidCheckpointError,
    UnreadableCheckpointError,
    check_regular,
)

NAME = METADATA_NAME
# `pickle.Unpickler` is written in C and cannot be told how to set attributes.
_InterpretedUnpickler: Any = pickle._Unpickler


def _member(kind: object, name: str) -> Any:
    """Returns a member of an enumeration, which is all that PyTorch's metadata use `getattr` for."""
    if isinstance(kind, EnumType) and name in kind.__members__:
        return kind.__members__[name]
    raise InvalidCheckpointError(f"{NAME} reads the attribute {name!r}, which no checkpoint contains")


# The types that PyTorch 2.13 to 2.15 write. They only hold data or look up a name. Any other name in a pickle could
# run code of its author.
_KNOWN = {
    ("torch", "Size"): torch.Size,
    ("torch.serialization", "_get_layout"): {"torch.strided": torch.strided}.__getitem__,
    # Python 3.11.2, that of Debian 12, pickles members of enumerations by name. Source: python/cpython pull 26658.
    ("builtins", "getattr"): _member,
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


def read_metadata(folder: Path, names: Collection[str]) -> Metadata:
    """Returns the tensors of the checkpoint in `folder` and their locations in its files `names`.

    Raises:
        InvalidCheckpointError: The file cannot be read, contains more than data, or describes something other than
            tensors in these files.
    """
    try:
        check_regular(folder / NAME)
        with (folder / NAME).open("rb") as stream:
            found = _Unpickler(stream).load()
    except (InvalidCheckpointError, UnreadableCheckpointError):
        raise
    # A pickle that PyTorch did not write can fail in any way.
    except Exception as error:
        raise InvalidCheckpointError(f"cannot read {NAME}: {error!r}") from error
    if not _describes_tensors(found, names):
        raise InvalidCheckpointError(f"{NAME} describes something other than tensors in the files of the checkpoint")
    checked: Metadata = found
    _check_parts(checked)
    return checked


class _Unpickler(_InterpretedUnpickler):  # type: ignore[misc]
    def load_build(self) -> None:
        """Sets the attributes of an object, but not those of a class, which would change PyTorch in this process."""
        if isinstance(self.stack[-2], type):
            raise InvalidCheckpointError(f"{NAME} changes {self.stack[-2].__qualname__}")
        super().load_build()

    dispatch: ClassVar[dict[int, Any]] = {**_InterpretedUnpickler.dispatch, pickle.BUILD[0]: load_build}

    def find_class(self, module: str, name: str, /) -> Callable[..., Any]:
        if module == "torch" and isinstance(getattr(torch, name, None), torch.dtype):
            dtype: Any = getattr(torch, name)
            return dtype  # type: ignore[no-any-return]  # pickle looks up any name, not only classes
        try:
            return _KNOWN[module, name]  # type: ignore[no-any-return]
        except KeyError:
            raise InvalidCheckpointError(f"{NAME} names {module}.{name}, which no checkpoint contains") from None


def _describes_tensors(found: object, names: Collection[str]) -> bool:
    if not isinstance(found, Metadata) or not isinstance(found.state_dict_metadata, dict):
        return False
    # PyTorch would unpickle everything else on load.
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


def _check_parts(found: Metadata) -> None:
    """Raises InvalidCheckpointError if the parts of a tensor do not add up to it.

    PyTorch reads the parts that there are, and would leave the rest of the tensor as it is.
    """
    for name, described in found.state_dict_metadata.items():
        try:
            is_whole = _is_whole(described)
        # Unpickled objects have attributes of any type.
        except Exception as error:
            raise InvalidCheckpointError(f"{NAME} cannot be understood: {error!r}") from error
        if not is_whole:
            raise InvalidCheckpointError(f"{NAME} lacks parts of the tensor {name!a}")


def _is_whole(described: Any) -> bool:
    """Returns true if the parts add up to the tensor. They do not overlap: what several ranks hold has one writer."""
    are_inside = all(
        0 <= begin <= begin + length <= end
        for part in described.chunks
        for begin, length, end in zip(part.offsets, part.sizes, described.size, strict=True)
    )
    return are_inside and sum(math.prod(part.sizes) for part in described.chunks) == math.prod(described.size)


def _is_stored_in(place: object, names: Collection[str]) -> bool:
    return (
        type(place) is filesystem._StorageInfo
        and place.relative_path in names
        # Extensions are code; a checkpoint of this trainer has none.
        and not getattr(place, "transform_descriptors", None)
    )
