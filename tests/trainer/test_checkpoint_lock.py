"""One writer per checkpoint directory, by a lock that not every file system has."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from pathlib import Path

import pytest

from tests.harness.trainer.launch import TIMEOUT_SECONDS
from trainer.checkpoint.directory import open_directory
from trainer.checkpoint.lock import Lock
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError


def flock_fails(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Lets the file system refuse locks with this error."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_without_locks_the_run_starts_and_removes_no_leftovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    (tmp_path / ".tmp-step-00000001-0123").mkdir()
    flock_fails(monkeypatch, number)
    open_directory(tmp_path, Lock(), Peers())
    assert (tmp_path / ".tmp-step-00000001-0123").is_dir()
    assert f"{tmp_path} does not support locks: leftovers of crashed runs are not removed" in capsys.readouterr().out


def test_a_lock_that_fails_otherwise_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock_fails(monkeypatch, errno.EIO)
    with pytest.raises(CheckpointError, match=f"cannot lock checkpoint directory {tmp_path}: Input/output error"):
        Lock().acquire(tmp_path)


def test_a_lock_is_free_after_its_release_and_may_be_released_again(tmp_path: Path) -> None:
    first, second = Lock(), Lock()
    assert first.acquire(tmp_path / "a" / "b")
    with pytest.raises(CheckpointError, match="another run is writing to"):
        second.acquire(tmp_path / "a" / "b")
    first.release()
    first.release()
    assert second.acquire(tmp_path / "a" / "b")
    second.release()


def test_a_start_waits_for_the_lock_of_a_node_that_died_and_logs_it_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead, lock = Lock(), Lock()
    dead.acquire(tmp_path)
    (tmp_path / ".tmp-step-00000001-0123").mkdir()
    threading.Timer(0.2, dead.release).start()
    open_directory(tmp_path, lock, Peers(), lease_seconds=TIMEOUT_SECONDS)
    assert lock.is_held
    assert not (tmp_path / ".tmp-step-00000001-0123").exists()
    said = capsys.readouterr().out
    assert said.count(f"waits up to {TIMEOUT_SECONDS:.0f} s for the lock of {tmp_path}: another run holds it, or") == 1
    lock.release()


def test_a_lock_that_is_free_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock = Lock()
    open_directory(tmp_path, lock, Peers(), lease_seconds=TIMEOUT_SECONDS)
    assert not capsys.readouterr().out
    lock.release()


def test_a_second_run_is_refused_after_the_wait_for_a_lease(tmp_path: Path) -> None:
    first, second = Lock(), Lock()
    first.acquire(tmp_path)
    with pytest.raises(CheckpointError, match="another run is writing to"):
        open_directory(tmp_path, second, Peers(), lease_seconds=0.1)
    assert first.is_held
    assert not second.is_held
    first.release()


def test_a_directory_that_cannot_be_locked_for_another_reason_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock_fails(monkeypatch, errno.EIO)
    with pytest.raises(CheckpointError, match="cannot lock checkpoint directory"):
        open_directory(tmp_path, Lock(), Peers(), lease_seconds=1000)


def test_the_lock_is_not_inherited_by_other_programs_and_may_be_taken_by_any_user_of_the_group(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    lock = Lock()
    lock.acquire(tmp_path)
    (descriptor,) = (
        int(entry.name)
        for entry in Path("/proc/self/fd").iterdir()
        if entry.is_symlink() and os.path.realpath(entry) == str(tmp_path / ".lock")
    )
    assert not os.get_inheritable(descriptor)
    assert (tmp_path / ".lock").stat().st_mode == (tmp_path / "plain").stat().st_mode
    lock.release()


def test_ranks_that_take_over_wait_until_the_lock_is_free(tmp_path: Path) -> None:
    first = Lock()
    first.acquire(tmp_path)
    threading.Timer(0.2, first.release).start()
    open_directory(tmp_path, Lock(), Peers(), takeover_seconds=TIMEOUT_SECONDS)


def test_ranks_do_not_take_over_what_another_one_may_still_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Lock()
    first.acquire(tmp_path)
    with pytest.raises(CheckpointError, match=f"may still write to {tmp_path}, because that is locked"):
        open_directory(tmp_path, Lock(), Peers(), takeover_seconds=0.1)
    first.release()
    flock_fails(monkeypatch, errno.ENOLCK)
    lock = Lock()
    with pytest.raises(CheckpointError, match="or its file system has no locks"):
        open_directory(tmp_path, lock, Peers(), takeover_seconds=1000)
    assert not lock.is_owned(tmp_path)


def test_ranks_go_on_without_the_lock_if_only_the_rank_0_before_them_has_it(tmp_path: Path) -> None:
    paused, following = Lock("before"), Lock("after")
    paused.acquire(tmp_path)
    (tmp_path / ".tmp-step-00000001-0123").mkdir()
    open_directory(tmp_path, following, Peers(), takeover_seconds=TIMEOUT_SECONDS, owner_before="before")
    # The paused rank may still be writing it.
    assert (tmp_path / ".tmp-step-00000001-0123").is_dir()
    assert following.is_owned(tmp_path)
    paused.release()
    assert following.is_owned(tmp_path)
    with pytest.raises(CheckpointError, match="another run is writing to"):
        Lock().acquire(tmp_path)


def test_ranks_without_the_lock_lose_the_directory_to_the_first_node_once_it_is_back(tmp_path: Path) -> None:
    paused, following, back = Lock("before"), Lock("after"), Lock("back")
    paused.acquire(tmp_path)
    open_directory(tmp_path, following, Peers(), takeover_seconds=TIMEOUT_SECONDS, owner_before="before")
    paused.release()
    back.acquire(tmp_path)
    assert not following.is_owned(tmp_path)
    back.release()
    assert not following.is_owned(tmp_path)


def test_ranks_go_on_without_the_lock_once_more(tmp_path: Path) -> None:
    paused = Lock("first")
    paused.acquire(tmp_path)
    for before, following in (("first", "second"), ("second", "third")):
        open_directory(tmp_path, Lock(following), Peers(), takeover_seconds=TIMEOUT_SECONDS, owner_before=before)


def test_another_run_has_the_lock_although_it_states_no_owner(tmp_path: Path) -> None:
    ended, other = Lock("before"), Lock()
    ended.acquire(tmp_path)
    ended.release()
    other.acquire(tmp_path)
    with pytest.raises(CheckpointError, match="may still write to"):
        open_directory(tmp_path, Lock(), Peers(), takeover_seconds=0.1, owner_before="before")
