"""WebDataset's tar files: the members of a sample have one name up to the first dot, and their kind behind it.

`.npy` is an input and `.cls` its class as a decimal number, `.tokens.npy` a row of tokens. A file is read whole.
Source: https://github.com/webdataset/webdataset#the-webdataset-format
"""

import io
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer.data.formats.shard import InMemory, in_memory
from trainer.errors import ConfigError

_KINDS = {"npy": "inputs", "cls": "targets", "tokens.npy": "tokens"}


def read(path: Path) -> InMemory:
    """The samples in `path`, in the order of their names in the file."""
    found: dict[str, list[NDArray[Any]]] = defaultdict(list)
    with tarfile.open(path) as archive:
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            kind = _KINDS.get(name.partition(".")[2])
            stream = archive.extractfile(member)
            if kind is None or stream is None:
                continue
            found[kind].append(_value(path, f"{folder}/{name}", kind, stream.read()))
    return in_memory(path, {kind: np.stack(values) for kind, values in found.items()})


def _value(path: Path, name: str, kind: str, content: bytes) -> NDArray[Any]:
    try:
        if kind == "targets":
            return np.array(int(content))
        return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    except ValueError as error:
        raise ConfigError(f"{path}: {name.lstrip('/')} is no {kind.removesuffix('s')}: {error}") from error
