"""Files that are digested while they are written, and are on the disk before anyone relies on them."""

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
    """What a file must be like to be the one that was written."""

    bytes: int
    sha256: str


class Files(FileSystem):
    """Where PyTorch writes a checkpoint, and we our part of it. `entries` has what was written, by name."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}

    @contextmanager
    def create_stream(self, path: str | os.PathLike[str], mode: str) -> Generator[IOBase, None, None]:
        """A new file to write; `mode` is what PyTorch asks for, which would write over one that exists."""
        if mode != "wb":
            raise ValueError(f"files are written here, not opened with mode {mode}")
        with _DigestedFile(Path(path)) as stream:
            try:
                yield stream
            except RuntimeError as error:
                # torch.save replaces an OSError of its stream by a RuntimeError about stream positions.
                raise (stream.error or error) from error
            self.entries[Path(path).name] = stream.entry()

    def write(self, path: Path, write: Callable[[IO[bytes]], object]) -> None:
        """A new file that has what `write` writes, on the disk when this returns."""
        with self.create_stream(path, "wb") as stream:
            write(cast(IO[bytes], stream))
            stream.flush()
            os.fsync(stream.fileno())

    def rename(self, path: str | os.PathLike[str], new_path: str | os.PathLike[str]) -> None:
        """Its entry moves with a file."""
        super().rename(path, new_path)
        self.entries[Path(new_path).name] = self.entries.pop(Path(path).name)

    def mkdir(self, path: str | os.PathLike[str]) -> None:
        """Nothing: rank 0 has made the folder. A rank that does not see it would make one that nobody else sees."""


def sync_directory(path: Path) -> None:
    """Makes the names in `path` durable."""
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

    def entry(self) -> Entry:
        return Entry(bytes=self._bytes, sha256=self._sha256.hexdigest())
