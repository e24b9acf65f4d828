"""Disks: free space, read-only file systems, and a small write."""

from __future__ import annotations

import os
from pathlib import Path

from nodehealth.config import Disks
from nodehealth.fault import CannotCheckError, Fault

CHECK = "disks"
# Enough for one block of any file system, and nothing for its wear.
BYTES = b"trainyard node health\n" * 186


class DiskCheck:
    """Writes a file to each folder and reads it back. A write that hangs is the time-out of the check."""

    def __init__(self, settings: Disks) -> None:
        self._settings = settings

    def __call__(self) -> list[Fault]:
        """Returns the faults of all folders."""
        return [fault for name, path in self._settings.paths.items() for fault in self._disk(name, Path(path))]

    def _disk(self, name: str, folder: Path) -> list[Fault]:
        try:
            about = os.statvfs(folder)
        except OSError as error:
            return [Fault(CHECK, name, "DiskUnreadable", f"disk {name} cannot be read: {error.strerror}")]
        if about.f_flag & os.ST_RDONLY:
            return [Fault(CHECK, name, "DiskReadOnly", f"the file system of disk {name} is read-only")]
        faults = []
        for what, free, total in (
            ("space", about.f_bavail, about.f_blocks),
            ("inodes", about.f_favail, about.f_files),
        ):
            percent = 100 * free / total if total else 100
            if percent < self._settings.min_free_percent:
                wanted = f"{self._settings.min_free_percent:g}%"
                faults.append(
                    Fault(
                        CHECK,
                        name,
                        "DiskFull",
                        f"disk {name} has {percent:.1f}% of its {what} free, less than {wanted}",
                    )
                )
        return faults + self._write(name, folder)

    def _write(self, name: str, folder: Path) -> list[Fault]:
        file = folder / ".trainyard-node-health"
        try:
            with file.open("wb", buffering=0) as opened:
                opened.write(BYTES)
                os.fsync(opened.fileno())
            found = file.read_bytes()
            file.unlink()
        except PermissionError as error:
            raise CannotCheckError(f"the agent may not write to disk {name}: {error.strerror}") from error
        except OSError as error:
            return [Fault(CHECK, name, "DiskWriteFailed", f"a write to disk {name} failed: {error.strerror}")]
        if found != BYTES:
            return [Fault(CHECK, name, "DiskCorrupt", f"disk {name} returns other bytes than were written to it")]
        return []
