"""Disks that are full, broken or read-only."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from typing import Any

import pytest

from trainer.checkpoint import files

# All file system operations of a save. pathlib, shutil and PyTorch use them, too.
OPERATIONS = ("mkdir", "open", "stat", "fsync", "rename", "unlink", "rmdir", "scandir", "listdir")
SAVING = "checkpoint"


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Limits the size of files to `size` bytes: longer writes fail with EFBIG, as ENOSPC on a full disk.

    The limit applies to the whole process. Run only the code under test inside: pytest's own report is a file too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class FaultyDisk:
    """Counts the file system operations of the saving thread, and makes them fail on demand.

    `fsync` is counted but not done, because no test cuts the power.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.before: Callable[[str], object] = str
        self.repair()
        for name in OPERATIONS:
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))
        monkeypatch.setattr(files, "FileIO", self._file_type())

    def fail(self, number: int, error: int, *, lasting: bool) -> None:
        """Makes the `number`th operation from now on fail with errno `error`, and all later ones if `lasting`."""
        self.count, self._from, self._error, self._lasting = 0, number, error, lasting

    def repair(self) -> None:
        """Makes all operations succeed from now on."""
        self.fail(0, 0, lasting=False)

    def _ask(self, operation: str) -> None:
        if threading.current_thread().name != SAVING:
            return
        self.before(operation)
        self.count += 1
        if self._from and (self.count == self._from or (self._lasting and self.count > self._from)):
            raise OSError(self._error, os.strerror(self._error))

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def ask_and_do(*arguments: Any, **named: Any) -> Any:
            self._ask(name)
            return None if name == "fsync" else real(*arguments, **named)

        return ask_and_do

    def _file_type(self) -> type[FileIO]:
        ask = self._ask

        class Watched(FileIO):
            def __init__(self, *arguments: Any) -> None:
                ask("create")
                super().__init__(*arguments)

            def write(self, data: Any, /) -> int:
                ask("write")
                return super().write(data)

        return Watched
