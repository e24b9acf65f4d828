"""Several pods share one volume: one fetches, the others wait, and another one takes over when it dies."""

from __future__ import annotations

import errno
import importlib
import json
import os
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.charts.dataset.program import (
    FETCH,
    MARKER,
    PATIENCE_SECONDS,
    contents,
    fetch,
    fetch_error,
    finish,
    plan,
    sha256,
    start,
    wait_until,
)
from tests.charts.dataset.server import Server

DATA = random.Random(2).randbytes(3_000_000)  # noqa: S311
HALF = 2_000_000


def staged_bytes(folder: Path) -> int:
    """Return the number of staged bytes. A pod may rename a folder meanwhile, which `os.walk` passes over."""
    paths = (
        Path(place, name) for place, _, names in os.walk(folder.parent) for name in names if name.endswith(".part")
    )
    return sum(size_of(path) for path in paths)


def size_of(path: Path) -> int:
    """Return the size of a file; 0 if it is gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def test_one_of_several_pods_fetches_and_the_others_wait_for_it(server: Server, folder: Path, tmp_path: Path) -> None:
    urls = [server.put("/big", DATA, hold_at=HALF), server.put("/small", b"x")]
    path = plan(folder, {"kind": "http", "urls": urls})
    logs = [tmp_path / f"pod-{number}.log" for number in range(6)]
    pods = [start(path, log.stem, patience=60, log=log) for log in logs]

    def waiting() -> int:
        return sum(": waiting for pod-" in said and "fetched 1.9 MiB" in said for said in map(Path.read_text, logs))

    wait_until(lambda: waiting() == 5)
    assert not folder.exists()

    server.release.set()
    results = [finish(pod) for pod in pods]

    assert [status for status, _, _ in results] == [0] * 6
    assert server.ranges("/big") == server.ranges("/small") == [None]
    assert sum("dataset: fetched " in said and "waiting" not in said for said in map(Path.read_text, logs)) == 1
    assert contents(folder) == {"big": DATA, "small": b"x"}
    assert [entry.name for entry in folder.parent.iterdir()] == ["flowers"]


def test_another_pod_takes_over_from_a_killed_pod_and_resumes(server: Server, folder: Path) -> None:
    path = plan(folder, {"kind": "http", "urls": [server.put("/big", DATA, hold_at=HALF)]}, {"big": sha256(DATA)})
    first = start(path, "pod-a")
    wait_until(lambda: staged_bytes(folder) >= HALF)
    first.kill()
    finish(first)
    assert not folder.exists()

    output = fetch(path, "pod-b")

    assert f"taking over: no heartbeat of pod-a for {PATIENCE_SECONDS:g} s" in output
    assert server.ranges("/big") == [None, f"bytes={HALF}-"]
    assert contents(folder) == {"big": DATA}


class Clock:
    """A clock that only sleeping advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Returns the seconds that were slept."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Advances the clock."""
        self.now += seconds


def test_a_dead_pod_is_waited_for_as_long_as_the_patience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FETCH.parent))
    leases, clock = importlib.import_module("leases"), Clock()
    monkeypatch.setattr(leases, "time", clock)
    timing = leases.Timing(beat=5, patience=60)
    assert leases.acquire(tmp_path / "work", "pod-a", "pod-a", lambda: False, timing) is not None
    assert clock.now == 0
    assert leases.acquire(tmp_path / "work", "pod-b", "pod-b", lambda: False, timing) is not None
    assert 60 <= clock.now <= 65


def test_a_volume_that_fails_for_a_moment_does_not_end_the_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(FETCH.parent))
    leases = importlib.import_module("leases")
    lease = leases.acquire(tmp_path / "work", "pod-a", "pod-a", lambda: False, leases.Timing(beat=0.01))
    asked: list[int] = []

    def is_lost() -> bool:
        asked.append(len(asked))
        if len(asked) == 1:
            raise OSError(errno.ESTALE, "Stale file handle")
        return False

    monkeypatch.setattr(lease, "_is_lost", is_lost)
    with lease:
        wait_until(lambda: json.loads((tmp_path / "work" / "1" / "beat").read_text())["count"] > 0)


def test_the_same_pod_resumes_at_once_after_a_kill(server: Server, folder: Path) -> None:
    path = plan(folder, {"kind": "http", "urls": [server.put("/big", DATA, hold_at=HALF)]})
    first = start(path)
    wait_until(lambda: staged_bytes(folder) >= HALF)
    first.kill()
    finish(first)

    status, output, _ = finish(start(path, patience=3600))

    assert status == 0
    assert "waiting" not in output
    assert server.ranges("/big") == [None, f"bytes={HALF}-"]


def test_a_deleted_pod_releases_its_lock(server: Server, folder: Path) -> None:
    path = plan(folder, {"kind": "http", "urls": [server.put("/big", DATA, hold_at=HALF)]})
    first = start(path, "pod-a")
    wait_until(lambda: staged_bytes(folder) >= HALF)
    first.terminate()
    assert finish(first)[0] == 128 + signal.SIGTERM

    status, _, _ = finish(start(path, "pod-b", patience=3600))

    assert status == 0
    assert contents(folder) == {"big": DATA}


def test_a_suspended_pod_that_lost_its_lock_does_no_damage(server: Server, folder: Path) -> None:
    path = plan(folder, {"kind": "http", "urls": [server.put("/big", DATA, hold_at=HALF)]})
    first = start(path, "pod-a")
    wait_until(lambda: staged_bytes(folder) >= HALF)
    first.send_signal(signal.SIGSTOP)
    second = start(path, "pod-b")
    wait_until(lambda: len(server.ranges("/big")) == 2)
    server.pages["/big"].hold_at = None
    first.send_signal(signal.SIGCONT)

    status, _, errors = finish(first)
    assert status == 1
    assert "another pod has taken over" in errors or "No such file" in errors
    server.release.set()
    assert finish(second)[0] == 0
    assert contents(folder) == {"big": DATA}


def test_after_an_error_the_next_pod_does_not_wait(server: Server, folder: Path) -> None:
    path = plan(folder, {"kind": "http", "urls": [f"{server.address}/none"]})
    fetch_error(path)
    server.put("/none", b"now")

    status, output, _ = finish(start(path, "pod-b", patience=3600))

    assert status == 0, output


@pytest.mark.parametrize("seed", range(3))
def test_readers_see_all_or_nothing_whenever_pods_are_killed(tmp_path: Path, folder: Path, seed: int) -> None:
    claim = tmp_path / "claim"
    claim.mkdir()
    for number in range(40):
        (claim / f"shard-{number:02}").write_bytes(bytes([number]) * 200_000)
    path = plan(folder, {"kind": "claim", "name": "c", "mountPath": str(claim), "path": ""})
    wanted = contents(claim)
    seen: list[bool] = []
    ended = threading.Event()

    def look() -> None:
        while not ended.is_set():
            if folder.exists():
                seen.append((folder / MARKER).exists() and len(list(folder.iterdir())) == len(wanted) + 1)

    reader = threading.Thread(target=look)
    reader.start()
    chance = random.Random(seed)  # noqa: S311
    for attempt in range(12):
        process = start(path, f"pod-{attempt % 3}", patience=0.5)
        time.sleep(chance.uniform(0.05, 0.4))
        process.kill()
        finish(process)
    fetch(path, "pod-last")
    ended.set()
    reader.join()

    assert all(seen)
    assert contents(folder) == wanted
