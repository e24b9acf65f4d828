"""The cache of clean files: what it takes for unchanged, and what damage it survives."""

from __future__ import annotations

import json
import marshal
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from trainyard.document.files import Found
from trainyard.linting.clean_cache import CleanCache
from trainyard.linting.session import start_session

FILE = Found("run.yaml", "run.yaml", ".")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a cache that knows one file as clean."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("run.yaml").write_text("0000")
    memory = opened()
    assert memory.unknown([FILE]) == [FILE]
    memory.learn([])
    assert opened().unknown([FILE]) == []
    (path,) = (tmp_path / "cache/clean").iterdir()
    return path


def opened() -> CleanCache:
    return CleanCache(start_session(()).engine)


def test_a_file_with_the_same_size_and_mtime_is_another_file(cache: Path) -> None:
    before = Path("run.yaml").stat()
    Path("run.yaml").write_text("true")
    os.utime("run.yaml", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert opened().unknown([FILE]) == [FILE]


def test_a_copy_with_the_same_times_is_another_file(cache: Path) -> None:
    Path("other.yaml").write_text("true")
    before = Path("run.yaml").stat()
    os.utime("other.yaml", ns=(before.st_atime_ns, before.st_mtime_ns))
    Path("other.yaml").replace("run.yaml")
    assert opened().unknown([FILE]) == [FILE]


# A clock that ticks rarely gives two files the same times.
STAMP = ("st_mtime_ns", "st_ctime_ns", "st_ino", "st_size")


@pytest.mark.parametrize("field", STAMP)
def test_a_file_that_differs_in_one_number_is_another_file(
    cache: Path, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    memory, stat = opened(), os.stat

    def changed(name: str) -> SimpleNamespace:
        status = stat(name)
        return SimpleNamespace(**{each: getattr(status, each) + (each == field) for each in STAMP})

    monkeypatch.setattr(os, "stat", changed)
    assert memory.unknown([FILE]) == [FILE]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda text: b"",  # noqa: ARG005
    "cut": lambda text: text[:-9],
    "another form": lambda text: b"[1]",  # noqa: ARG005
    "no mapping": lambda text: json.dumps([json.loads(text)[0], [1, 2]]).encode(),
    "nothing": lambda text: json.dumps([json.loads(text)[0], None]).encode(),
    "no stamps": lambda text: json.dumps([json.loads(text)[0], {"run.yaml": [{}]}]).encode(),
    "marshal": lambda text: marshal.dumps((json.loads(text)[0], {"run.yaml": 1})),
    "a size without memory": lambda text: b"[\xff\xff\xff\x7f",  # noqa: ARG005
    "deep": lambda text: b"[" * 200_000,  # noqa: ARG005
    "a large number": lambda text: b"[" + b"9" * 5_000 + b"]",  # noqa: ARG005
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cache_is_passed_over_and_written_anew(cache: Path, damage: str) -> None:
    cache.write_bytes(DAMAGES[damage](cache.read_bytes()))
    memory = opened()
    assert memory.unknown([FILE]) == [FILE]
    memory.learn([])
    assert opened().unknown([FILE]) == []


@pytest.mark.timeout(300)
def test_a_cache_that_is_a_pipe_is_not_waited_for(cache: Path) -> None:
    cache.unlink()
    os.mkfifo(cache)
    assert opened().unknown([FILE]) == [FILE]


def test_a_draft_that_is_a_link_is_not_written_through(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("mine")
    cache.unlink()
    Path(f"{cache}.{os.getpid()}").symlink_to(tmp_path / "other")
    memory = opened()
    memory.unknown([FILE])
    memory.learn([])
    assert (tmp_path / "other").read_text() == "mine"
    assert opened().unknown([FILE]) == []
