"""The checks that start the trainer, on two processes with gloo: the same code as on GPUs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gpu import forks
from tests.harness.trainer import fork_server
from tools.gpu import training
from tools.gpu.check import Outcome
from tools.gpu.checks import ALL, strategies
from tools.gpu.errors import CheckFailedError
from tools.gpu.machine import Machine
from tools.gpu.runner import Runner
from tools.gpu.session import Session
from trainer.config import parse_flags

PROCESSORS = Machine(device="cpu")


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    """The server, before a check starts."""
    forks.start_server()
    yield
    fork_server.stop()


def test_the_checks_pass_on_processors(tmp_path: Path) -> None:
    wanted = ("all-reduce", "one-gpu", "ddp", "fsdp2", "killed-rank", "sigterm", "hung-rank")
    checks = [check for check in ALL if check.name in wanted]
    results = list(Runner(PROCESSORS, tmp_path, start=forks.start).run(checks, lambda _: None))

    assert {result.check.name: (result.outcome, result.reason) for result in results} == dict.fromkeys(
        wanted, (Outcome.PASSED, "")
    )


def test_the_reference_has_fp32_also_on_gpus() -> None:
    assert parse_flags(training.TINY).precision == "fp32"


def test_another_loss_than_that_of_one_gpu_fails(tmp_path: Path) -> None:
    session = Session(PROCESSORS, tmp_path, 300.0, start=forks.start)

    with pytest.raises(CheckFailedError, match=r"a loss differs from that on one GPU by 0\.\d+ of it: at most 0\.001"):
        strategies.agree(session, "--learning-rate=0.004", ranks=1, tolerance=strategies.CLOSE)


def test_a_run_that_fails_is_reported_with_its_error(tmp_path: Path) -> None:
    session = Session(PROCESSORS, tmp_path, 300.0, start=forks.start)

    begun = time.monotonic()
    with pytest.raises(CheckFailedError, match=r"run run exits with 1: trainer: error: --tensor-size must divide"):
        strategies.falls(session, "--strategy=tensor", "--tensor-size=3")
    assert time.monotonic() - begun < session.seconds
