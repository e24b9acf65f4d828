"""The cache: an entry is complete or does not exist, and is built once."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.cluster import cache

SPAWN = multiprocessing.get_context("spawn")


def build_and_log(folder: Path, log: Path) -> None:
    (folder / "binary").write_text("whole")
    with log.open("a") as file:
        file.write(f"{os.getpid()}\n")


def ask(log: Path) -> None:
    cache.cached("bin", "tool", lambda folder: build_and_log(folder, log))


def build_for_ever(started: Event) -> None:
    def build(folder: Path) -> None:
        (folder / "binary").write_text("half")
        started.set()
        signal.pause()

    cache.cached("bin", "tool", build)


def test_a_build_that_fails_leaves_no_entry(own_cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "binary").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        cache.cached("bin", "tool", fail)
    assert not (own_cache / "bin" / "tool").exists()


def test_an_interrupted_build_is_repeated_completely(own_cache: Path) -> None:
    started = SPAWN.Event()
    process = SPAWN.Process(target=build_for_ever, args=(started,))
    process.start()
    assert started.wait(timeout=60)
    process.kill()
    process.join()
    entry = cache.cached("bin", "tool", lambda folder: build_and_log(folder, own_cache / "log"))
    assert (entry / "binary").read_text() == "whole"
    assert [path.name for path in (own_cache / "bin").iterdir()] == ["tool"]


def test_concurrent_processes_build_an_entry_once(own_cache: Path) -> None:
    processes = [SPAWN.Process(target=ask, args=(own_cache / "log",)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert len((own_cache / "log").read_text().splitlines()) == 1


def test_a_new_entry_replaces_older_entries_of_its_name_on_request(own_cache: Path) -> None:
    for key in ("trainer-1", "trainer-2", "system-1"):
        cache.cached("images", key, lambda folder: (folder / "image.tar").touch(), keep_others=False)
    assert sorted(path.name for path in (own_cache / "images").iterdir()) == ["system-1", "trainer-2"]


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_parts_have_different_digests(one: list[str], other: list[str]) -> None:
    assert (cache.digest(*one) == cache.digest(*other)) == (one == other)


def test_the_digest_of_a_folder_covers_names_and_contents(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("1")
    before = cache.digest(folder)
    (folder / "a").write_text("2")
    assert cache.digest(folder) != before
    (folder / "a").write_text("1")
    assert cache.digest(folder) == before
    (folder / "a").rename(folder / "b")
    assert cache.digest(folder) != before
