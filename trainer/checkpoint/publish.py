"""Atomic publication of a directory of files, and its verification.

A directory that carries the published name was written completely: its files and its manifest reached the disk before
the rename that gave it the name. Whatever the moment of a crash, a reader finds either all of it or nothing. The
manifest's digests catch what happens to it afterwards.
"""

import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from trainer.errors import CheckpointError

TEMPORARY_PREFIX = ".tmp-"
MANIFEST = "manifest.json"
FORMAT = 1
_CHUNK_BYTES = 1 << 20

Write = Callable[[BinaryIO], None]


class InvalidCheckpointError(Exception):
    """A published directory is cut off, corrupted or of another format. The message is the reason alone."""


def publish(path: Path, files: Mapping[str, Write]) -> None:
    """Creates directory `path` with `files`, each written by its function, and a manifest of their digests.

    Raises:
        CheckpointError: `path` exists, or the file system refused (full, read-only, ...). Nothing of the attempt is
            left, and nothing that was there before is touched.
    """
    # Not named after host and process: both are the same again when a container restarts, and a name that its
    # predecessor left behind could not be created.
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}-{uuid.uuid4().hex}")
    if path.exists():  # rename would replace an empty directory without a word
        raise CheckpointError(f"cannot write checkpoint {path}: it exists and is never overwritten")
    with _explained(path):
        try:
            temporary.mkdir()
            manifest = {name: _write(temporary / name, write) for name, write in files.items()}
            text = json.dumps({"format": FORMAT, "files": manifest}, indent=2)
            _write(temporary / MANIFEST, lambda stream: _write_text(stream, text))
            _sync_directory(temporary)
            temporary.rename(path)
            _sync_directory(path.parent)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def verify(path: Path, names: frozenset[str]) -> None:
    """Reads every byte of the files `names` of published directory `path` and checks them against its manifest.

    Raises:
        InvalidCheckpointError: A file is missing, cut off or changed, or the manifest is.
    """
    manifest = _read_manifest(path)
    for name in sorted(names):
        expected = manifest.get(name)
        if not isinstance(expected, dict):
            raise InvalidCheckpointError(f"{MANIFEST} does not list {name}")
        try:
            size = (path / name).stat().st_size
            if size != expected.get("bytes"):
                raise InvalidCheckpointError(f"{name} has {size} bytes instead of {expected.get('bytes')}")
            with (path / name).open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InvalidCheckpointError(f"cannot read {name}: {error.strerror}") from error
        if digest != expected.get("sha256"):
            raise InvalidCheckpointError(f"{name} does not have the sha256 digest that {MANIFEST} states")


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((path / MANIFEST).read_bytes())
    except OSError as error:
        raise InvalidCheckpointError(f"cannot read {MANIFEST}: {error.strerror}") from error
    except ValueError as error:
        raise InvalidCheckpointError(f"{MANIFEST} is not JSON: {error}") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InvalidCheckpointError(f"{MANIFEST} lists no files")
    if manifest.get("format") != FORMAT:
        raise InvalidCheckpointError(f"format {manifest.get('format')}, while this trainer reads format {FORMAT}")
    return cast(dict[str, Any], manifest["files"])


class _DigestingFile:
    """A binary stream that digests what is written to it and remembers the error that the file system gave.

    `torch.save` replaces an OSError of its stream by a RuntimeError about stream positions.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._sha256 = hashlib.sha256()
        self._bytes = 0
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        try:
            self._raw.write(data)
        except OSError as error:
            self.error = error
            raise
        self._sha256.update(data)
        self._bytes += memoryview(data).nbytes
        return memoryview(data).nbytes

    def flush(self) -> None:
        self._raw.flush()

    def entry(self) -> dict[str, object]:
        return {"sha256": self._sha256.hexdigest(), "bytes": self._bytes}


def _write(path: Path, write: Write) -> dict[str, object]:
    with path.open("xb", buffering=_CHUNK_BYTES) as raw:
        stream = _DigestingFile(raw)
        try:
            write(cast(BinaryIO, stream))
        except RuntimeError as error:
            raise (stream.error or error) from error
        raw.flush()
        os.fsync(raw.fileno())
        return stream.entry()


def _write_text(stream: BinaryIO, text: str) -> None:
    stream.write(text.encode())


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CheckpointError(f"cannot write checkpoint {path}: {error.strerror or error}") from error
