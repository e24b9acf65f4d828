"""Ranks that stand still, and collectives that nobody comes to."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from trainer.config import TrainerConfig
from trainer.errors import ConfigError
from trainer.runtime import flight_recorder
from trainer.runtime.distributed import World
from trainer.runtime.launch import Launch
from trainer.runtime.roll_call import RollCall, summary
from trainer.runtime.watchdog import STATUS, Watchdog

from .launch import ENVIRONMENT, TIMEOUT_SECONDS
from .ports import free_port
from .standstill import HANG_SECONDS, SHORT_SECONDS

SLEEPS, IS_STOPPED = 1, 2
STANDS_IN = {0: "exchange", SLEEPS: "sleep"}


@dataclass(frozen=True)
class Hung:
    """Three ranks that hung, of which the last is stopped: what they said before they `ended`, and where."""

    statuses: list[int]
    stdout: list[str]
    stderr: list[str]
    dumps: Path
    ended: float


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Hung:
    folder = tmp_path_factory.mktemp("hung")
    launch = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    command = [sys.executable, "-m", "tests.trainer.standstill", str(folder / "dumps")]
    ranks = [
        subprocess.Popen(
            command,
            env={**ENVIRONMENT, **launch, "RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(3)
    ]
    try:
        outputs = [rank.communicate(timeout=TIMEOUT_SECONDS) for rank in ranks[:IS_STOPPED]]
        ended = time.monotonic()
    finally:
        for rank in ranks:
            rank.kill()
            rank.communicate()
    return Hung(
        [rank.returncode for rank in ranks],
        [stdout for stdout, _ in outputs],
        [stderr for _, stderr in outputs],
        folder / "dumps",
        ended,
    )


def test_ranks_that_stand_still_end_themselves(hung: Hung) -> None:
    assert hung.statuses == [STATUS, STATUS, -signal.SIGKILL]
    begun = float(hung.stdout[0].split()[-1])
    # What it takes beside: the roll call, and the end of a process.
    assert hung.ended - begun < HANG_SECONDS + 30


def test_each_rank_says_where_it_stands_and_dumps_its_stacks(hung: Hung) -> None:
    for rank in (0, SLEEPS):
        assert f"trainer: rank {rank}: nothing happened for {HANG_SECONDS:g} s after step 3" in hung.stderr[rank]
        for stacks in (hung.stderr[rank], (hung.dumps / f"stacks-rank-{rank:05}.txt").read_text()):
            assert f"in {STANDS_IN[rank]}\n" in stacks


def test_one_rank_says_who_stands_elsewhere_and_who_is_silent(hung: Hung) -> None:
    said = [line for stderr in hung.stderr for line in stderr.splitlines() if "the run hangs" in line]

    assert len(said) == 1
    assert "rank 0 at step 3 trainer.runtime.boundary:" in said[0]
    assert "rank 1 at step 3 __main__:" in said[0]
    assert "rank 2 silent" in said[0]


def test_a_collective_fails_within_the_short_limit_once_that_is_set(hung: Hung) -> None:
    for seconds in map(float, hung.stdout[0].split()[:-1]):
        assert SHORT_SECONDS / 2 < seconds < HANG_SECONDS


def test_a_save_may_take_longer_than_a_step(alone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[int] = []
    monkeypatch.setattr("trainer.runtime.watchdog.os._exit", ended.append)
    with Watchdog(TrainerConfig(hang_seconds=0.1), alone) as watchdog:
        watchdog.alive(1)
        with watchdog.patience():
            threading.Event().wait(0.4)
        watchdog.alive(2)

    assert ended == []


def test_a_rank_whose_peers_have_ended_still_says_why_the_run_hangs(
    alone: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_reporting, peers_end = threading.Event(), threading.Event()
    ended: list[int] = []

    def answer(*_: object) -> dict[int, str]:
        is_reporting.set()
        peers_end.wait(TIMEOUT_SECONDS)
        return {0: "here"}

    monkeypatch.setattr("trainer.runtime.watchdog.os._exit", ended.append)
    monkeypatch.setattr(RollCall, "answer", answer)
    with Watchdog(TrainerConfig(hang_seconds=0.1), alone) as watchdog:
        watchdog.alive(1)
        is_reporting.wait(TIMEOUT_SECONDS)
        threading.Timer(0.2, peers_end.set).start()

    assert ended == [STATUS]
    assert "the run hangs: rank 0 at here" in capsys.readouterr().err


class Deaf:
    """A store whose process is stopped."""

    host, port = "rank-0", 29500

    def append(self, *_: str) -> None:
        """Never returns, for a test."""
        threading.Event().wait()


def test_a_store_that_is_stopped_keeps_nobody_from_ending(alone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer.runtime.roll_call.connect", Deaf)
    roll_call = RollCall(replace(alone, launch=Launch(launched=True)))

    with pytest.raises(TimeoutError, match="the store at rank-0:29500 does not answer"):
        roll_call.answer("here", seconds=0.0)


def test_ranks_in_the_same_place_are_named_together() -> None:
    answers = dict.fromkeys((0, 2, 3, 4, 7), "step 9 here")

    assert summary(answers, 8) == "ranks 0,2-4,7 at step 9 here; ranks 1,5-6 silent (stopped, gone, or cut off)"


def test_nccl_writes_its_flight_record_beside_the_stacks(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    flight_recorder.arm(tmp_path / "dumps", environment)

    assert (tmp_path / "dumps").is_dir()
    assert environment["TORCH_FR_DUMP_TEMP_FILE"] == str(tmp_path / "dumps/nccl-rank-")
    assert int(environment["TORCH_FR_BUFFER_SIZE"]) > 0


def test_what_the_user_says_of_the_flight_recorder_stays(tmp_path: Path) -> None:
    said = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "7", "TORCH_FR_DUMP_TEMP_FILE": "/records/"}
    environment = dict(said)
    flight_recorder.arm(tmp_path, environment)

    assert environment == {**said, "TORCH_NCCL_DUMP_ON_TIMEOUT": "1"}


def test_a_folder_for_dumps_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"--dump-dir .*/file/dumps cannot be made \(Not a directory\)"):
        flight_recorder.arm(tmp_path / "file" / "dumps", {})
