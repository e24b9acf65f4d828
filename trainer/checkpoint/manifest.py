"""The manifest of a checkpoint: size and digest of its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trainer.checkpoint.files import DigestingFileSystem, Entry
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

NAME = "manifest.json"
FORMAT = 2


class InvalidCheckpointError(CheckpointError):
    """A published checkpoint is truncated, corrupted, forged or of another format. The message is the reason alone."""


def write_manifest(folder: Path, entries: Mapping[str, Entry]) -> None:
    """Writes the manifest of the files `entries`. Errors of the file system are raised as OSError."""
    files = {name: asdict(entry) for name, entry in sorted(entries.items())}
    text = json.dumps({"format": FORMAT, "files": files}, indent=2)
    DigestingFileSystem().write(folder / NAME, lambda stream: stream.write(text.encode()))


def read_manifest(folder: Path) -> dict[str, Entry]:
    """Returns the files that belong to the checkpoint in `folder`, by name.

    Raises:
        InvalidCheckpointError: The manifest is missing, truncated, of another format or names a file outside the
            folder.
    """
    try:
        manifest = json.loads((folder / NAME).read_bytes())
    except OSError as error:
        raise InvalidCheckpointError(f"cannot read {NAME}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidCheckpointError(f"{NAME} is not JSON: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InvalidCheckpointError(f"{NAME} lists no files")
    if manifest.get("format") != FORMAT:
        raise InvalidCheckpointError(f"format {manifest.get('format')}, but this trainer reads format {FORMAT}")
    return {name: _entry(name, listed) for name, listed in manifest["files"].items()}


def verify_files(folder: Path, peers: Peers) -> None:
    """Verifies every byte of the checkpoint in `folder`; the ranks share the files. Collective.

    Raises:
        InvalidCheckpointError: A file or the manifest is missing, truncated or changed.
    """
    entries = peers.on_rank_zero(lambda: read_manifest(folder))
    # Dealt out in turn, largest first, so that all ranks read about equally much.
    names = sorted(entries, key=lambda name: (-entries[name].bytes, name))[peers.rank :: peers.size]
    peers.on_all_ranks(lambda: _check_all(folder, {name: entries[name] for name in names}))


def _entry(name: str, listed: Any) -> Entry:
    if name != Path(name).name:
        raise InvalidCheckpointError(f"{NAME} names {name}, which is not a file of the checkpoint")
    try:
        entry = Entry(**listed)
    except TypeError as error:
        raise InvalidCheckpointError(f"{NAME} lacks the size and digest of {name}") from error
    return entry


def _check_all(folder: Path, entries: Mapping[str, Entry]) -> None:
    for name, expected in entries.items():
        _check(folder / name, expected)


def _check(path: Path, expected: Entry) -> None:
    try:
        size = path.stat().st_size
        if size != expected.bytes:
            raise InvalidCheckpointError(f"{path.name} has {size} bytes instead of {expected.bytes}")
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InvalidCheckpointError(f"cannot read {path.name}: {error.strerror}") from error
    if digest != expected.sha256:
        raise InvalidCheckpointError(f"{path.name} does not have the sha256 digest that {NAME} states")
