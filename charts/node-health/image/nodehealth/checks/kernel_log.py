"""XIDs: errors of NVIDIA's driver in the kernel's log.

A record has the form `priority,sequence,microseconds since boot,flags;text` (Documentation/ABI/testing/dev-kmsg of the
kernel). An XID stays a fault until the node boots again, or until an administrator declares the node repaired.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from nodehealth.clock import now
from nodehealth.config import KernelLog
from nodehealth.fault import CannotCheckError, Fault

CHECK = "xid"
# NVRM: Xid (PCI:0000:10:1c): 79, pid=1896, GPU has fallen off the bus.
XID = re.compile(r"^\d+,\d+,(?P<time>\d+),[^;]*;NVRM: Xid \((?P<device>[^)]*)\): (?P<xid>\d+)(?P<text>.*)$")
UPTIME = Path("/proc/uptime")
BLOCK = 1 << 16


def boot_time() -> datetime:
    """Returns the time at which the kernel's clock was zero."""
    return now() - timedelta(seconds=float(UPTIME.read_text().split()[0]))


class KernelLogCheck:
    """Reads what is new in the kernel's log, and keeps the XIDs."""

    def __init__(self, settings: KernelLog, path: Path, repaired: Callable[[], datetime | None]) -> None:
        """`repaired` returns the time since which faults count, if an administrator has set one."""
        self._xids = set(settings.xids)
        self._path = path
        self._repaired = repaired
        self._file: int | None = None
        self._rest = b""
        self._seen: dict[tuple[str, int], tuple[datetime, str]] = {}

    def __call__(self) -> list[Fault]:
        """Returns a fault for each GPU and XID. Raises `CannotCheckError` if the log cannot be read."""
        for line in self._new():
            if (match := XID.match(line)) and int(match["xid"]) in self._xids:
                moment = boot_time() + timedelta(microseconds=int(match["time"]))
                self._seen[match["device"], int(match["xid"])] = (moment, match["text"].strip(" ,"))
        since = self._repaired()
        return [
            Fault(CHECK, device, f"Xid{xid}", f"GPU {device} reported XID {xid}" + (f": {text}" if text else ""))
            for (device, xid), (moment, text) in sorted(self._seen.items())
            if since is None or moment > since
        ]

    def _new(self) -> list[str]:
        try:
            data = self._rest + self._read()
        except OSError as error:
            advice = "the agent needs `privileged` for /dev/kmsg; write sources.kernelLog, or checks.xid.enabled: false"
            raise CannotCheckError(f"{self._path} cannot be read ({error.strerror}): {advice}") from error
        *lines, self._rest = data.split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def _read(self) -> bytes:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        about = os.fstat(self._file)
        # A log that is a file, as on a test host: a shorter one is a new log.
        if stat.S_ISREG(about.st_mode) and about.st_size < os.lseek(self._file, 0, os.SEEK_CUR):
            os.lseek(self._file, 0, os.SEEK_SET)
            self._seen.clear()
        data = b""
        while True:
            try:
                block = os.read(self._file, BLOCK)
            except BlockingIOError:
                return data
            except BrokenPipeError:
                # Records were overwritten before they were read; the next read continues with the oldest.
                continue
            if not block:
                return data
            data += block
