"""WebDataset tar files: the members of one sample share the name up to the first dot; the rest is their kind.

They may stand in any order, as in an archive that `tar` makes of a folder. `.npy` is an input, `.cls` its class as a
decimal number, `.tokens.npy` a row of tokens. A file is read into memory.
Source: https://github.com/webdataset/webdataset#the-webdataset-format
"""

from __future__ import annotations

import io
import tarfile
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from .shard import Shard, in_memory, sample_kind

# A name such as `cat.2024-01.jpg` makes a kind of its own.
_MOST_SHOWN = 3
_KINDS = {"npy": "inputs", "cls": "targets", "tokens.npy": "tokens"}
_SUFFIXES = {kind: suffix for suffix, kind in _KINDS.items()}
_PARTS = {"images": ("inputs", "targets"), "tokens": ("tokens",)}
# The parts of a sample.
Sample = dict[str, NDArray[Any]]


def read(path: Path) -> Shard:
    """Reads the samples in `path`, in the order of their first members."""
    samples: dict[str, Sample] = defaultdict(dict)
    unread: Counter[str] = Counter()
    with tarfile.open(path) as archive:
        for member in archive:
            folder, _, name = member.name.rpartition("/")
            stem, _, suffix = name.partition(".")
            kind = _KINDS.get(suffix)
            stream = archive.extractfile(member)
            if stream is None:
                continue
            if kind is None:
                unread[suffix] += 1
                continue
            samples[f"{folder}/{stem}"][kind] = _value(path, f"{folder}/{name}", kind, stream.read())
    found = {kind for sample in samples.values() for kind in sample}
    if unread:
        _check_complete(path, found, unread)
    parts = _PARTS[sample_kind(str(path), found)]
    rows = _complete(path, samples, parts)
    return in_memory(str(path), {part: np.stack([sample[part] for sample in rows]) for part in parts})


def _complete(path: Path, samples: Mapping[str, Sample], parts: Sequence[str]) -> list[Sample]:
    """Returns the samples that have any of these parts. Raises ConfigError if one lacks another part."""
    found = []
    for name, sample in samples.items():
        had = [part for part in parts if part in sample]
        if had and len(had) < len(parts):
            (missing,) = set(parts) - set(had)
            raise ConfigError(
                f"{path}: {name.lstrip('/')}.{_SUFFIXES[had[0]]} has no .{_SUFFIXES[missing]} beside it: write both, "
                "or leave the sample out"
            )
        found += [sample] * bool(had)
    return found


def _check_complete(path: Path, found: Collection[str], unread: Counter[str]) -> None:
    """Raises ConfigError if the samples lack a part, which then may be in the members that are not read."""
    if {"inputs", "targets"}.issubset(found) or "tokens" in found:
        return
    shown = ", ".join(f".{suffix}" if suffix else "no suffix" for suffix, _ in unread.most_common(_MOST_SHOWN))
    more = f" and {len(unread) - _MOST_SHOWN} others" if len(unread) > _MOST_SHOWN else ""
    raise ConfigError(
        f"{path} has members with {shown}{more}, which the trainer does not read: write each image as an array in .npy "
        "and its class in .cls, or each row of tokens in .tokens.npy"
    )


def _value(path: Path, name: str, kind: str, content: bytes) -> NDArray[Any]:
    try:
        if kind == "targets":
            return np.array(int(content))
        return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
    except ValueError as error:
        raise ConfigError(f"{path}: {name.lstrip('/')} is not a valid {kind.removesuffix('s')}: {error}") from error
