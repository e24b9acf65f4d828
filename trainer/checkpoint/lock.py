"""A lock that allows one writer per checkpoint directory."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from pathlib import Path

from ..errors import CheckpointError
from ..runtime.log import log

_NAME = ".lock"
_RETRY_SECONDS = 0.05
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class Lock:
    """A directory lock that the kernel releases when this process ends, however it ends."""

    def __init__(self) -> None:
        self._descriptor: int | None = None

    def acquire(self, directory: Path) -> bool:
        """Creates `directory` and locks it.

        Returns:
            False, with a log line, if the file system does not support locks. Leftovers of a crashed run then cannot be
            told from the files of a live one.

        Raises:
            CheckpointError: Another run holds the lock, or the directory cannot be written.
        """
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(directory / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise CheckpointError(
                f"cannot write to checkpoint directory {directory}: {error.strerror}: give user {os.geteuid()} write "
                "access (on Kubernetes: securityContext.fsGroup) or write another --checkpoint-dir"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CheckpointError(
                f"another run is writing to {directory}: wait until it has ended or write another --checkpoint-dir"
            ) from error
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise CheckpointError(f"cannot lock checkpoint directory {directory}: {error.strerror}") from error
            log(f"checkpoint directory {directory} does not support locks: leftovers of crashed runs are not removed")
            return False
        return True

    def acquire_within(self, seconds: float, directory: Path) -> bool:
        """Locks `directory` as soon as no other process holds its lock.

        Returns:
            False if another process holds it for `seconds`, or the file system does not support locks.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.acquire(directory)
            except CheckpointError:
                self.release()
                if time.monotonic() > deadline:
                    return False
                time.sleep(_RETRY_SECONDS)

    def release(self) -> None:
        """Releases the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
