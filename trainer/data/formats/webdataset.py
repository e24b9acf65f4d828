"""WebDataset tar files: the members of one sample share the name up to the first dot; the rest is their kind.

`.npy` is an input, `.cls` its class as a decimal number, `.tokens.npy` a row of tokens. A file is read into memory.
Source: https://github.com/webdataset/webdataset#the-webdataset-format
"""

from __future__ import annotations

import io
import tarfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from .shard import Shard, in_memory

_KINDS = {"npy": "inputs", "cls": "targets", "tokens.npy": "tokens"}


def read(path: Path) -> Shard:
    """Reads the samples in `path`, in the order of the members."""
    found: dict[str, list[NDArray[Any]]] = defaultdict(list)
    with tarfile.open(path) as archive:
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            kind = _KINDS.get(name.partition(".")[2])
            stream = archive.extractfile(member)
            if kind is None or stream is None:
                continue
            found[kind].append(_value(path, f"{folder}/{name}", kind, stream.read()))
    return in_memory(str(path), {kind: np.stack(values) for kind, values in found.items()})


def _value(path: Path, name: str, kind: str, content: bytes) -> NDArray[Any]:
    try:
        if kind == "targets":
            return np.array(int(content))
        return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    except ValueError as error:
        raise ConfigError(f"{path}: {name.lstrip('/')} is not a valid {kind.removesuffix('s')}: {error}") from error
