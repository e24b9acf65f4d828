"""Hanging ranks, and collectives that other ranks do not join."""

from __future__ import annotations

import json
import signal
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.harness.ports import free_port
from tests.harness.trainer.environment import ENVIRONMENT
from tests.harness.trainer.fork_server import fork
from tests.harness.trainer.launch import TIMEOUT_SECONDS, start, wait_until
from tests.trainer.hanging_ranks import HANG_SECONDS, SHORT_SECONDS
from trainer.errors import ConfigError
from trainer.runtime import flight_recorder
from trainer.runtime.distributed import World
from trainer.runtime.last_hang import LastHang, read_last_hang, write_last_hang
from trainer.runtime.launch import Launch
from trainer.runtime.liveness import LivenessCheck, describe_liveness
from trainer.runtime.watchdog import HANG_STATUS, Watchdog

SLEEPING, STOPPED = 1, 2
HANGS_IN = {0: "exchange", SLEEPING: "sleep"}


@dataclass(frozen=True)
class Hung:
    """Three ranks that hung, the last one stopped: exit statuses, outputs, dumps, and when they had `ended`."""

    statuses: list[int]
    stdout: list[str]
    stderr: list[str]
    dumps: Path
    ended: float


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The statuses with which the watchdog would have ended this process."""
    statuses: list[int] = []
    monkeypatch.setattr("trainer.runtime.watchdog.os._exit", statuses.append)
    return statuses


def rest(seconds: float) -> None:
    threading.Event().wait(seconds)


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Hung:
    folder = tmp_path_factory.mktemp("hung")
    launch = {"WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    command = ["tests.trainer.hanging_ranks", str(folder / "dumps")]
    ranks = [
        fork(
            command,
            {**ENVIRONMENT, **launch, "RANK": str(rank), "TORCHELASTIC_ERROR_FILE": str(folder / f"error-{rank}.json")},
        )
        for rank in range(3)
    ]
    try:
        outputs = [rank.communicate(timeout=TIMEOUT_SECONDS) for rank in ranks[:STOPPED]]
        ended = time.monotonic()
    finally:
        for rank in ranks:
            rank.kill()
            rank.communicate()
    return Hung(
        [rank.wait() for rank in ranks],
        [stdout for stdout, _ in outputs],
        [stderr for _, stderr in outputs],
        folder / "dumps",
        ended,
    )


def test_a_hanging_rank_tells_torchrun_where_it_hangs(hung: Hung) -> None:
    recorded = json.loads((hung.dumps.parent / f"error-{SLEEPING}.json").read_text())["message"]
    assert recorded["message"].startswith(f"no progress for {HANG_SECONDS:g} s after step ")
    assert "write a larger --hang-seconds if the run is only slow" in recorded["message"]
    assert recorded["extraInfo"].keys() == {"timestamp"}


def test_hanging_ranks_end_themselves(hung: Hung) -> None:
    assert hung.statuses == [HANG_STATUS, HANG_STATUS, -signal.SIGKILL]
    begun = float(hung.stdout[0].split()[-1])
    # The rest is for the liveness check and the exit of the processes.
    assert hung.ended - begun < HANG_SECONDS + 30


def test_each_hanging_rank_reports_its_position_and_dumps_its_stacks(hung: Hung) -> None:
    for rank in (0, SLEEPING):
        assert f"trainer: rank {rank}: no progress for {HANG_SECONDS:g} s after step 3" in hung.stderr[rank]
        for stacks in (hung.stderr[rank], (hung.dumps / f"stacks-rank-{rank:05}.txt").read_text()):
            assert f"in {HANGS_IN[rank]}\n" in stacks


def test_one_rank_reports_which_ranks_are_elsewhere_or_silent(hung: Hung) -> None:
    said = [line for stderr in hung.stderr for line in stderr.splitlines() if "the run hangs" in line]

    assert len(said) == 1
    assert "rank 0 at step 3 trainer.runtime.step_sync:" in said[0]
    assert "rank 1 at step 3 __main__:" in said[0]
    assert "rank 2 silent" in said[0]


def test_a_collective_fails_within_the_short_timeout_once_it_is_set(hung: Hung) -> None:
    for seconds in map(float, hung.stdout[0].split()[:-1]):
        assert SHORT_SECONDS / 2 < seconds < HANG_SECONDS


def test_a_save_may_take_longer_than_a_step(alone: World, ended: list[int]) -> None:
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=600, dump_dir="") as watchdog:
        watchdog.step_done(1)
        with watchdog.extended_limit():
            rest(0.4)
        watchdog.step_done(2)

    assert ended == []


def test_a_rank_whose_peers_have_exited_still_reports_the_hang(
    alone: World, ended: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_reporting, peers_end = threading.Event(), threading.Event()

    def collect(*_: object) -> dict[int, str]:
        is_reporting.set()
        peers_end.wait(TIMEOUT_SECONDS)
        return {0: "here"}

    monkeypatch.setattr(LivenessCheck, "collect", collect)
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=600, dump_dir="") as watchdog:
        watchdog.step_done(1)
        is_reporting.wait(TIMEOUT_SECONDS)
        threading.Timer(0.2, peers_end.set).start()

    assert ended == [HANG_STATUS]
    assert "the run hangs: rank 0 at here" in capsys.readouterr().err


class StoppedStore:
    """A store whose process is stopped."""

    host, port = "rank-0", 29500

    def append(self, *_: str) -> None:
        """Does not return during the test."""
        threading.Event().wait()


def test_a_stopped_store_does_not_block_the_exit(alone: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainer.runtime.liveness.connect_store", StoppedStore)
    liveness = LivenessCheck(replace(alone, launch=Launch(launched=True)))

    with pytest.raises(TimeoutError, match="the store at rank-0:29500 does not answer"):
        liveness.collect("here", seconds=0.0)


def test_ranks_at_the_same_position_are_listed_together() -> None:
    answers = dict.fromkeys((0, 2, 3, 4, 7), "step 9 here")

    assert (
        describe_liveness(answers, 8) == "ranks 0,2-4,7 at step 9 here; ranks 1,5-6 silent (stopped, gone, or cut off)"
    )


def test_nccl_writes_its_flight_record_beside_the_stacks(tmp_path: Path) -> None:
    environment: dict[str, str] = {}
    flight_recorder.enable(tmp_path / "dumps", environment)

    assert (tmp_path / "dumps").is_dir()
    assert environment["TORCH_FR_DUMP_TEMP_FILE"] == str(tmp_path / "dumps/nccl-rank-")
    assert int(environment["TORCH_FR_BUFFER_SIZE"]) > 0


def test_user_settings_of_the_flight_recorder_take_precedence(tmp_path: Path) -> None:
    said = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "7", "TORCH_FR_DUMP_TEMP_FILE": "/records/"}
    environment = dict(said)
    flight_recorder.enable(tmp_path, environment)

    assert environment == {**said, "TORCH_NCCL_DUMP_ON_TIMEOUT": "1"}


def test_a_dump_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"cannot create --dump-dir .*/file/dumps \(Not a directory\)"):
        flight_recorder.enable(tmp_path / "file" / "dumps", {})


def test_a_step_of_several_micro_batches_may_take_longer_than_the_limit(alone: World, ended: list[int]) -> None:
    with Watchdog(alone, hang_seconds=2.0, timeout_seconds=600, dump_dir="") as watchdog:
        watchdog.step_done(1)
        for _ in range(4):
            rest(0.7)
            watchdog.alive()
        watchdog.step_done(2)
    assert ended == []


def test_an_evaluation_of_several_batches_may_take_longer_than_the_limit(alone: World, ended: list[int]) -> None:
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=2.0, dump_dir="") as watchdog:
        watchdog.step_done(1)
        with watchdog.extended_limit():
            for _ in range(4):
                rest(0.7)
                watchdog.alive()
    assert ended == []


def test_the_limit_follows_the_slowest_step(alone: World, ended: list[int]) -> None:
    with Watchdog(alone, hang_seconds=2.0, timeout_seconds=600, dump_dir="") as watchdog:
        watchdog.step_done(1)
        rest(1.4)
        watchdog.step_done(2)
        rest(2.6)
        watchdog.step_done(3)
    assert ended == []


def test_the_limit_of_the_second_step_follows_the_first(alone: World, ended: list[int]) -> None:
    with Watchdog(alone, hang_seconds=0.5, timeout_seconds=600, dump_dir="") as watchdog:
        rest(1.0)
        watchdog.alive()
        watchdog.step_done(1)
        rest(1.5)
        watchdog.step_done(2)
        rest(3.0)
        watchdog.step_done(3)
    assert ended == []


def test_a_first_step_that_also_compiles_does_not_extend_the_limit_of_later_ones(
    alone: World, ended: list[int]
) -> None:
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=600, dump_dir="") as watchdog:
        rest(1.0)
        watchdog.step_done(1)
        watchdog.step_done(2)
        rest(2.0)
    assert set(ended) == {HANG_STATUS}


def test_neither_a_resume_nor_a_slow_save_extends_the_limit_of_steps(alone: World, ended: list[int]) -> None:
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=600, dump_dir="") as watchdog:
        with watchdog.extended_limit():
            rest(1.0)
            watchdog.alive()
        watchdog.step_done(1)
        rest(2.0)
    assert set(ended) == {HANG_STATUS}


def train_with_a_slow_step(alone: World, folder: Path, ended: list[int], *, seconds: float) -> None:
    """Two quick steps, and one that takes `seconds`, as each start of such a run does."""
    with Watchdog(alone, hang_seconds=0.5, timeout_seconds=600, dump_dir="", state_dir=folder) as watchdog:
        for step in (1, 2):
            watchdog.step_done(step)
        rest(seconds)
        if not ended:
            watchdog.step_done(3)


def test_a_run_that_ended_in_a_slow_step_gets_past_it_after_some_starts(
    alone: World, tmp_path: Path, ended: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    starts = 0
    while starts == 0 or ended:
        ended.clear()
        starts += 1
        train_with_a_slow_step(alone, tmp_path, ended, seconds=1.3)

    assert starts == 3
    assert "the step may only be slow: the next start waits 2 s for it" in capsys.readouterr().err
    assert not any(tmp_path.iterdir()), "the note of a hang outlives the step"


def test_the_limit_of_the_next_start_never_exceeds_the_timeout(
    alone: World, tmp_path: Path, ended: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    write_last_hang(tmp_path, LastHang(step=1, seconds=0.3))
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=0.5, dump_dir="", state_dir=tmp_path) as watchdog:
        watchdog.step_done(1)
        wait_until(lambda: ended)
    assert "the next start waits 0.5 s" in capsys.readouterr().err


def test_a_rank_that_does_not_respond_extends_no_limit(
    alone: World, tmp_path: Path, ended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LivenessCheck, "collect", lambda *_: {0: "here"})
    two = replace(alone, launch=replace(alone.launch, size=2))
    with Watchdog(two, hang_seconds=0.1, timeout_seconds=600, dump_dir="", state_dir=tmp_path) as watchdog:
        watchdog.step_done(1)
        wait_until(lambda: ended)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"step": 1}', '{"step": null, "seconds": 1}', '{"step": 1e999, "seconds": 1}']
)
def test_a_damaged_note_of_a_hang_is_passed_over(tmp_path: Path, content: str) -> None:
    write_last_hang(tmp_path, LastHang(step=1, seconds=1))
    (note,) = tmp_path.iterdir()
    note.write_text(content)
    assert read_last_hang(tmp_path) is None


@pytest.mark.parametrize(("first", "flag"), [(True, "--timeout-seconds"), (False, "--hang-seconds")])
def test_the_report_of_a_hang_names_the_flag(
    alone: World, ended: list[int], capsys: pytest.CaptureFixture[str], first: bool, flag: str
) -> None:
    with Watchdog(alone, hang_seconds=0.1, timeout_seconds=1.0, dump_dir="") as watchdog:
        if not first:
            watchdog.step_done(1)
        wait_until(lambda: ended)
    assert f"write a larger {flag} if the run is only slow" in capsys.readouterr().err


def test_a_rank_that_nobody_waits_for_ends_itself_when_it_stalls_in_a_resume(tmp_path: Path) -> None:
    assert start(tmp_path, "--epochs=1").finish().returncode == 0
    flags = ("--epochs=2", "--timeout-seconds=2")
    finished = start(tmp_path, *flags, fault="all-stalled-in-verification").finish()
    assert finished.returncode == HANG_STATUS
    assert "no progress for 2 s after step 0, at trainer.checkpoint.manifest:" in finished.stderr
    assert "write a larger --timeout-seconds if the run is only slow" in finished.stderr


def test_a_rank_that_stalls_while_it_verifies_a_checkpoint_fails_the_run_within_the_timeout(tmp_path: Path) -> None:
    assert start(tmp_path, "--epochs=1").finish().returncode == 0
    began = time.monotonic()
    flags = ("--epochs=2", "--timeout-seconds=5")
    assert start(tmp_path, *flags, processes=2, fault="stalled-in-verification").finish().returncode == 1
    assert time.monotonic() - began < TIMEOUT_SECONDS / 2
