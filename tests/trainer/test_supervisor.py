"""In-place restarts of ranks by their supervisors."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.ports import free_port
from tests.harness.trainer.launch import Finished, Started, start, wait_until

FLAGS = ("--epochs=2", "--checkpoint-steps=20", "--in-place-restarts=1")
RESTARTED = "starts again in its place"


RUNS: list[Started] = []


@pytest.fixture(autouse=True)
def kill_leftovers() -> Iterator[None]:
    """Kills the run of a failed test, which would otherwise continue for a long time."""
    yield
    for process in (process for run in RUNS for process in run.process.family()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    RUNS.clear()


def begin(folder: Path, *flags: str, fault: str | None = None, shares_store: bool = True) -> Started:
    """Starts two ranks, with torchrun's store or their own, and a folder in which each records its fault."""
    share = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "0" if shares_store else "1"}
    run = start(
        folder / "checkpoints",
        *FLAGS,
        f"--events-file={folder / 'events.jsonl'}",
        *flags,
        processes=2,
        fault=fault,
        environment={"RECORD": str(folder), **share},
    )
    RUNS.append(run)
    return run


def count_starts(run: Finished) -> int:
    """Returns how often training began, fresh or from a checkpoint."""
    return sum(line.startswith(("starting fresh:", "resumed:")) for line in run.lines)


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def supervisors(run: Started, events: Path, starts: int = 1) -> list[int]:
    """Returns the processes that torchrun has started, once training has begun `starts` times."""
    run.wait_for(lambda: events.exists() and events.read_text().count('"event": "started"') == starts)
    return children(run.process.pid)


def test_a_hanging_rank_restarts_with_the_one_that_was_killed(tmp_path: Path) -> None:
    run = begin(tmp_path, "--no-async-checkpoints", fault="killed-beside-hanging-rank").finish()
    assert run.returncode == 0, run.stderr
    assert count_starts(run) == 2
    assert f"rank 0: killed by SIGKILL: {RESTARTED}" in run.stderr
    assert "rank 1: lost its peers and saved alone: step=24" in run.stderr
    assert any(line.startswith("resumed: epoch=0 step=24 ") for line in run.lines)


def test_a_rank_that_hangs_while_its_weights_change_saves_nothing(tmp_path: Path) -> None:
    run = begin(tmp_path, fault="killed-beside-hanging-update").finish()
    assert run.returncode == 0, run.stderr
    assert f"rank 1: killed by SIGKILL: {RESTARTED}" in run.stderr
    assert "saved alone" not in run.stderr
    assert any(line.startswith("resumed: epoch=0 step=20 ") for line in run.lines)


def test_a_rank_that_is_killed_too_often_is_left_to_torchrun(tmp_path: Path) -> None:
    run = begin(tmp_path, fault="all-killed-in-second-save").finish()
    assert run.returncode == 1
    assert count_starts(run) == 2
    assert f"exitcode  : {128 + signal.SIGKILL}" in run.stderr


@pytest.mark.parametrize("fault", ["broken-once", "exits-once", "network-fails-once"])
def test_a_rank_that_fails_once_starts_again_in_place(tmp_path: Path, fault: str) -> None:
    run = begin(tmp_path, fault=fault).finish()
    assert run.returncode == 0, run.stderr
    assert count_starts(run) == 2
    assert f"rank 1: a rank has failed (status 1 here): {RESTARTED}" in run.stderr


def test_a_rank_that_fails_again_at_the_same_step_is_left_to_torchrun(tmp_path: Path) -> None:
    run = begin(tmp_path, "--in-place-restarts=3", fault="broken").finish()
    assert run.returncode == 1
    assert count_starts(run) == 2
    summary = run.stderr.partition("Root Cause (first observed failure):")[2]
    assert "rank      : 1 (local_rank: 1)" in summary
    assert summary.rstrip("=\n").splitlines()[-1].strip() == "ZeroDivisionError: a mistake"


@pytest.mark.parametrize("fault", ["broken-at-first-step", "infinite-gradient"])
def test_a_rank_that_fails_at_once_or_for_a_reason_of_the_run_is_left_to_torchrun(tmp_path: Path, fault: str) -> None:
    run = begin(tmp_path, fault=fault).finish()
    assert run.returncode == 1
    assert count_starts(run) == 1
    assert RESTARTED not in run.stderr


@pytest.mark.parametrize("shares_store", [True, False])
def test_sigterm_reaches_a_restarted_rank(tmp_path: Path, *, shares_store: bool) -> None:
    events = tmp_path / "events.jsonl"
    # The metrics port must be free again after a restart.
    run = begin(
        tmp_path, "--epochs=1000", "--grace-seconds=300", f"--metrics-port={free_port()}", shares_store=shares_store
    )
    first, second = supervisors(run, events)
    # The last child is the rank. The supervisor of rank 0 may have another child that hosts the store.
    os.kill(children(first)[-1], signal.SIGKILL)
    assert supervisors(run, events, starts=2) == [first, second]
    os.kill(first, signal.SIGTERM)
    finished = run.finish()
    assert count_starts(finished) == 2
    assert finished.lines[-1].startswith("stopped by SIGTERM: step=")
    assert f"exitcode  : {128 + signal.SIGTERM}" in finished.stderr


@pytest.mark.parametrize("number", [0, 1])
def test_a_rank_and_the_store_end_with_their_supervisor(tmp_path: Path, number: int) -> None:
    run = begin(tmp_path, "--epochs=1000", shares_store=False)
    os.kill(supervisors(run, tmp_path / "events.jsonl")[number], signal.SIGKILL)
    assert run.finish().returncode == 1
    wait_until(lambda: not run.process.family())


def test_a_store_port_in_use_is_reported(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        launch = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1"}
        run = start(tmp_path, environment=launch | {"MASTER_PORT": str(other.getsockname()[1])}).finish()
    assert run.returncode == 1
    (error,) = run.errors
    assert error.startswith("trainer: error: cannot open the rendezvous store: ")
