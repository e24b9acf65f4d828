"""The manifest of a checkpoint: size and digest of its files."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import CheckpointError
from .files import DigestingFileSystem, Entry
from .peers import Peers

NAME = "manifest.json"
# Another version of the trainer is known by this number alone: whoever changes the fields of a manifest or a state
# increases it.
FORMAT = 3
# Format 2 also has the random state of each rank, which is not needed.
_READABLE = (2, FORMAT)
# What PyTorch writes, for any program that uses its checkpoints; and what only this trainer adds to it.
METADATA_NAME, STATE_NAME = ".metadata", "state.json"
_SHA256 = re.compile("[0-9a-f]{64}")
_PART_BYTES = 1 << 20


class InvalidCheckpointError(CheckpointError):
    """A published checkpoint is truncated, corrupted or forged. The message is the reason alone."""


class UnreadableCheckpointError(CheckpointError):
    """A published checkpoint may be intact, but another program wrote it. The message is the reason alone."""


def write_manifest(folder: Path, entries: Mapping[str, Entry], name: str = NAME) -> None:
    """Writes the manifest of the files `entries`. Errors of the file system are raised as OSError."""
    files = {name: asdict(entry) for name, entry in sorted(entries.items())}
    text = manifest_text(FORMAT, files)
    DigestingFileSystem().write(folder / name, lambda stream: stream.write(text))


def manifest_text(number: object, files: Mapping[str, object]) -> bytes:
    """Returns the text of a manifest of format `number`.

    It ends with a digest of its own. Without it, a damaged number would look like one of another version, and the run
    would stop in place of passing the checkpoint over. All later formats keep it.
    """
    listed = {"format": number, "files": files}
    return json.dumps({**listed, "sha256": _digest(listed)}, indent=2).encode()


def _digest(listed: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(listed, sort_keys=True).encode()).hexdigest()


def read_manifest(folder: Path) -> dict[str, Entry]:
    """Returns the files that belong to the checkpoint in `folder`, by name.

    Raises:
        InvalidCheckpointError: The manifest is missing, truncated or names a file outside the folder.
        UnreadableCheckpointError: The manifest is of another format, or another program wrote the checkpoint.
    """
    if not (folder / NAME).exists() and (folder / METADATA_NAME).exists() and not (folder / STATE_NAME).exists():
        raise UnreadableCheckpointError(f"no {NAME}: another program wrote it with torch.distributed.checkpoint")
    manifest = read_json(folder / NAME)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InvalidCheckpointError(f"{NAME} lists no files")
    # Manifests of earlier versions have no digest of their own.
    own = manifest.pop("sha256", None)
    try:
        is_whole = own is None or own == _digest(manifest)
    except RecursionError:
        is_whole = False
    if not is_whole:
        raise InvalidCheckpointError(f"{NAME} does not have the sha256 digest that it states")
    number = manifest.get("format")
    if type(number) is not int or number < 1:
        raise InvalidCheckpointError(f"{NAME} has no format")
    if number not in _READABLE:
        raise UnreadableCheckpointError(
            f"format {number}, but this version of the trainer reads formats 2 and {FORMAT}"
        )
    if more := sorted(manifest.keys() - {"format", "files"}):
        names = ", ".join(map(ascii, more))
        raise InvalidCheckpointError(f"{NAME} has {names}, which no trainer writes in this format")
    return {name: _entry(name, listed) for name, listed in manifest["files"].items()}


def read_json(path: Path) -> Any:
    """Returns the content of a JSON file of a checkpoint.

    Raises:
        InvalidCheckpointError: The file cannot be read, or is not JSON.
        UnreadableCheckpointError: This process may not read it.
    """
    check_regular(path)
    try:
        with _explained(path.name):
            return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidCheckpointError(f"{path.name} is not JSON: {error}") from error


def check_regular(path: Path) -> int:
    """Returns the size in bytes of a file of a checkpoint. Opening anything else, such as a FIFO, could block.

    Raises:
        InvalidCheckpointError: It is missing, or not a regular file.
        UnreadableCheckpointError: This process may not read it.
    """
    with _explained(path.name):
        found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise InvalidCheckpointError(f"{path.name} is not a regular file")
    return found.st_size


def verify_files(folder: Path, peers: Peers) -> None:
    """Verifies every byte of the checkpoint in `folder`; the ranks share the files. Collective.

    Raises:
        InvalidCheckpointError: A file or the manifest is missing, truncated or changed.
        UnreadableCheckpointError: Another program wrote the checkpoint, or this one may not read it.
    """
    entries = peers.on_rank_zero(lambda: read_manifest(folder))
    # Dealt out in turn, largest first, so that all ranks read about equally much.
    names = sorted(entries, key=lambda name: (-entries[name].bytes, name))[peers.rank :: peers.size]
    peers.on_all_ranks(lambda: _check_all(folder, {name: entries[name] for name in names}, peers.on_read))


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Raises errors of the file system as errors of the checkpoint: a missing permission is no damage."""
    try:
        yield
    except PermissionError as error:
        raise UnreadableCheckpointError(f"cannot read {name}: {error.strerror}") from error
    except OSError as error:
        raise InvalidCheckpointError(f"cannot read {name}: {error.strerror}") from error


def _entry(name: str, listed: Any) -> Entry:
    if not name.isprintable() or name != PurePosixPath(name).as_posix() or not _is_inside(PurePosixPath(name)):
        shown = name if name.isprintable() else ascii(name)
        raise InvalidCheckpointError(f"{NAME} names {shown}, which is not a file of the checkpoint")
    try:
        entry = Entry(**listed)
    except TypeError as error:
        raise InvalidCheckpointError(f"{NAME} lacks the size and digest of {name}") from error
    if type(entry.bytes) is not int or type(entry.sha256) is not str or not _SHA256.fullmatch(entry.sha256):
        raise InvalidCheckpointError(f"{NAME} lacks the size and digest of {name}")
    return entry


def _is_inside(name: PurePosixPath) -> bool:
    return bool(name.parts) and not name.is_absolute() and ".." not in name.parts


def _check_all(folder: Path, entries: Mapping[str, Entry], on_read: Callable[[], None]) -> None:
    for name, expected in entries.items():
        _check(folder / name, expected, on_read)


def _check(path: Path, expected: Entry, on_read: Callable[[], None]) -> None:
    size = check_regular(path)
    if size != expected.bytes:
        raise InvalidCheckpointError(f"{path.name} has {size} bytes instead of {expected.bytes}")
    digest = hashlib.sha256()
    with _explained(path.name), path.open("rb") as stream:
        while part := stream.read(_PART_BYTES):
            digest.update(part)
            on_read()
    if digest.hexdigest() != expected.sha256:
        raise InvalidCheckpointError(f"{path.name} does not have the sha256 digest that {NAME} states")
