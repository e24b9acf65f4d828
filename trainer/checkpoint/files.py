"""Files that are hashed while they are written and are durable before anything relies on them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedWriter, FileIO, IOBase
from pathlib import Path
from typing import IO, Any, cast

from torch.distributed.checkpoint.filesystem import FileSystem

_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """The size and digest of a file as written."""

    bytes: int
    sha256: str


class DigestingFileSystem(FileSystem):
    """A file system that hashes the files of a checkpoint as they are written. `entries` has them by name."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    @contextmanager
    def create_stream(self, path: str | os.PathLike[str], mode: str) -> Generator[IOBase, None, None]:
        """Opens a new file for writing. PyTorch asks for `mode` "wb", which alone would replace an existing file."""
        if mode != "wb":
            raise ValueError(f"only mode 'wb' is supported, not {mode!r}")
        with _DigestedFile(Path(path)) as stream:
            try:
                yield stream
            except RuntimeError as error:
                # torch.save replaces an OSError of its stream with a RuntimeError about stream positions.
                raise (stream.error or error) from error
            self.entries[Path(path).name] = stream.entry()

    def write(self, path: Path, write: Callable[[IO[bytes]], object]) -> None:
        """Creates a file with the content that `write` writes. The file is durable when this returns."""
        with self.create_stream(path, "wb") as stream:
            write(cast(IO[bytes], stream))
            os.fsync(stream.fileno())

    def rename(self, path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> None:
        """Renames a file and its entry."""
        super().rename(path, new_path)
        self.entries[Path(new_path).name] = self.entries.pop(Path(path).name)

    def mkdir(self, path: str | os.PathLike[str]) -> None:
        """Does nothing: rank 0 has created the folder. A rank that cannot see it must not create another one."""


def sync_directory(path: Path) -> None:
    """Makes the names in directory `path` durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _DigestedFile(BufferedWriter):
    def __init__(self, path: Path) -> None:
        super().__init__(FileIO(path, "xb"), _BUFFER_BYTES)
        self._sha256 = hashlib.sha256()
        self._bytes = 0
        self.error: OSError | None = None

    def write(self, data: Any, /) -> int:
        try:
            written = super().write(data)
        except OSError as error:
            self.error = error
            raise
        self._sha256.update(data)
        self._bytes += written
        return written

    def fileno(self) -> int:
        # PyTorch up to 2.13 syncs the descriptor while the last bytes are still in the buffer.
        self.flush()
        return super().fileno()

    def entry(self) -> Entry:
        return Entry(bytes=self._bytes, sha256=self._sha256.hexdigest())
