"""A lock that allows one writer per checkpoint directory.

Its file has the ID of the ranks that took it last. If a node is paused, its rank 0 keeps the lock. The ranks that go on
without it tell by the ID that no other run has the lock. That rank 0 can only finish a save, because its other
collectives need them; two saves of one step do not disturb each other, because only one folder gets the name.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from ..errors import CheckpointError
from ..runtime.log import log

_NAME = ".lock"
_RETRY_SECONDS, _WAITING_RETRY_SECONDS = 0.05, 0.5
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class LockedError(CheckpointError):
    """Another process holds the lock."""


class Lock:
    """A directory lock that the kernel releases when this process ends, however it ends.

    Args:
        owner: The ID of the ranks that this process locks the directory for; another one for each lock without it.
    """

    def __init__(self, owner: str = "") -> None:
        self._owner = owner or os.urandom(8).hex()
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """True from `acquire` to `release`."""
        return self._descriptor is not None

    def acquire(self, directory: Path) -> bool:
        """Creates `directory` and locks it.

        Returns:
            False, with a log line, if the file system does not support locks. Leftovers of a crashed run then cannot be
            told from the files of a live one.

        Raises:
            LockedError: Another run holds the lock.
            CheckpointError: The directory cannot be written.
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
            self.release()
            raise LockedError(
                f"another run is writing to {directory}: wait until it has ended or write another --checkpoint-dir"
            ) from error
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise CheckpointError(f"cannot lock checkpoint directory {directory}: {error.strerror}") from error
            log(f"checkpoint directory {directory} does not support locks: leftovers of crashed runs are not removed")
            self.release()
            return False
        self._write_owner(directory)
        return True

    def acquire_patiently(self, directory: Path, seconds: float) -> bool:
        """Locks `directory` as `acquire` does, and waits up to `seconds` while another process holds the lock.

        Raises:
            LockedError: Another run holds the lock after `seconds`.
            CheckpointError: The directory cannot be written.
        """
        deadline = time.monotonic() + seconds
        is_logged = False
        while True:
            try:
                return self.acquire(directory)
            except LockedError:
                if (left := deadline - time.monotonic()) <= 0:
                    raise
            if not is_logged:
                log(
                    f"waits up to {seconds:.0f} s for the lock of {directory}: another run holds it, or a node that "
                    "died, until the file server takes it back"
                )
                is_logged = True
            time.sleep(min(left, _WAITING_RETRY_SECONDS))

    def acquire_within(self, seconds: float, directory: Path, *, owner_before: str = "") -> bool:
        """Locks `directory` as soon as no other process holds its lock.

        Args:
            seconds: The time to wait.
            directory: The directory.
            owner_before: If the process that holds the lock has this owner, these ranks become the owner without it.

        Returns:
            False if another process holds the lock for `seconds`, or the file system does not support locks.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.acquire(directory)
            except CheckpointError:
                self.release()
            if owner_before and _owner(directory) == owner_before:
                self._write_owner(directory)
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(_RETRY_SECONDS)

    def is_owned(self, directory: Path) -> bool:
        """Returns false if these ranks have no lock, and others have taken `directory` since.

        Gets the lock if it has become free.
        """
        if self.is_held:
            return True
        is_owned = _owner(directory) == self._owner
        if is_owned:
            self.acquire_within(0.0, directory)
        return is_owned

    def release(self) -> None:
        """Releases the lock, if it is held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write_owner(self, directory: Path) -> None:
        # In place, because a full volume has no room for another. Ranks that find no owner wait for the lock.
        with suppress(OSError), (directory / _NAME).open("r+") as file:
            file.write(self._owner)
            file.truncate()


def _owner(directory: Path) -> str:
    """Returns the ID of the ranks that took the lock last; "" if it cannot be read."""
    try:
        return (directory / _NAME).read_text()
    except (OSError, UnicodeDecodeError):
        return ""
