"""A file is replaced as a whole or not at all. It keeps its mode, and a new one has that of any new file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from trainyard.document.opening import RefusedError
from trainyard.editing import atomic_write


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    atomic_write.replace(tmp_path / "new", b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o2771])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "kept"
    file.touch()
    file.chmod(mode)
    atomic_write.replace(file, b"")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_the_file_behind_a_link_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    atomic_write.replace(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_an_expected_file_is_replaced_and_no_other(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("old")
    atomic_write.replace(file, b"new", b"old")
    assert file.read_text() == "new"
    with pytest.raises(RefusedError, match="it has changed since it was read"):
        atomic_write.replace(file, b"newer", b"old")
    assert file.read_text() == "new"


def test_a_file_with_another_name_is_not_replaced(tmp_path: Path) -> None:
    file, other = tmp_path / "run.yaml", tmp_path / "other.yaml"
    file.write_text("old")
    other.hardlink_to(file)
    with pytest.raises(RefusedError, match="it has several hard links"):
        atomic_write.replace(file, b"new", b"old")
    assert other.read_text() == file.read_text() == "old"


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_file_whose_new_content_is_not_on_the_disk_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def failing(_: int) -> None:
        raise error

    (tmp_path / "run.yaml").write_text("old")
    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(type(error)):
        atomic_write.replace(tmp_path / "run.yaml", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["run.yaml"]
    assert (tmp_path / "run.yaml").read_text() == "old"
