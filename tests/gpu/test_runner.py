"""The runner: outcomes, logs and time limits."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.trainer.launch import wait_until
from tools.gpu.check import Check, Measured, Outcome, Result
from tools.gpu.errors import CheckFailedError, NotRunError
from tools.gpu.machine import Machine
from tools.gpu.runner import Runner
from tools.gpu.session import Session, first_error

TWO_GPUS = Machine(device="cuda", gpus=2)
PROCESSORS = Machine(device="cpu")


def run(folder: Path, check: Check, machine: Machine = TWO_GPUS) -> Result:
    (result,) = Runner(machine, folder).run([check], lambda _: None)
    return result


def check(action: Callable[[Session], Measured], **fields: object) -> Check:
    return Check(name="example", what="an example", bar="none", run=action, **fields)  # type: ignore[arg-type]


def fail(session: Session) -> Measured:
    (session.folder / "program.log").write_text("words\n")
    raise CheckFailedError("a bar does not hold")


def test_a_check_that_passes_returns_what_it_measured_and_leaves_no_files(tmp_path: Path) -> None:
    result = run(tmp_path, check(lambda _: {"seconds": 1.5}))

    assert (result.outcome, result.measured, result.log) == (Outcome.PASSED, {"seconds": 1.5}, None)
    assert not list((tmp_path / "logs").iterdir())


def test_a_failed_check_keeps_its_logs(tmp_path: Path) -> None:
    result = run(tmp_path, check(fail))

    assert (result.outcome, result.reason) == (Outcome.FAILED, "a bar does not hold")
    assert result.log == tmp_path / "logs/example"
    assert (result.log / "program.log").read_text() == "words\n"


def test_a_mistake_in_a_check_is_a_failure_of_that_check(tmp_path: Path) -> None:
    result = run(tmp_path, check(lambda _: {"ratio": 1 / 0}))

    assert (result.outcome, result.reason) == (
        Outcome.FAILED,
        "the check itself fails: ZeroDivisionError: division by zero",
    )


@pytest.mark.parametrize(
    ("machine", "fields", "reason"),
    [
        (TWO_GPUS, {"gpus": 4}, "needs 4 GPUs, and this machine has 2"),
        (TWO_GPUS, {"packages": ("no_such_package",)}, "needs the package no_such_package"),
        (PROCESSORS, {}, "needs a GPU"),
    ],
)
def test_a_check_that_lacks_something_is_not_run(
    tmp_path: Path, machine: Machine, fields: dict[str, object], reason: str
) -> None:
    result = run(tmp_path, check(fail, **fields), machine)

    assert (result.outcome, result.reason) == (Outcome.NOT_RUN, reason)


def test_a_check_may_find_out_itself_that_it_lacks_something(tmp_path: Path) -> None:
    def lack(_: Session) -> Measured:
        raise NotRunError("needs nvidia-smi")

    result = run(tmp_path, check(lack, rehearsed=True), PROCESSORS)
    assert (result.outcome, result.reason) == (Outcome.NOT_RUN, "needs nvidia-smi")


def test_a_program_that_hangs_is_killed_at_the_limit_with_all_that_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    def hang(session: Session) -> Measured:
        process, _ = session.launch("sleeper", ["tests.gpu.sleeper", str(pids)], {})
        session.wait_until(pids.exists, "the file")
        session.wait(process, "the sleeper")
        return {}

    result = run(tmp_path, check(hang, seconds=3.0))
    assert (result.outcome, result.reason) == (
        Outcome.FAILED,
        "waited for the end of the sleeper, and the limit of 3 s has passed",
    )
    assert result.log is not None
    assert first_error(result.log / "sleeper.log") == "RuntimeError: a mistake"
    assert not [pid for pid in pids.read_text().split() if is_alive(pid)]


def test_a_check_may_end_its_programs_itself(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    def end(session: Session) -> Measured:
        session.launch("sleeper", ["tests.gpu.sleeper", str(pids)], {})
        session.wait_until(pids.exists, "the file")
        session.end_programs()
        return {"alive": sum(is_alive(pid) for pid in pids.read_text().split())}

    assert run(tmp_path, check(end)).measured == {"alive": 0}


def test_sigterm_ends_the_programs_of_a_check_too(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    program = f"""
from pathlib import Path
from tests.gpu.test_runner import TWO_GPUS, check
from tools.gpu.__main__ import end_on_sigterm
from tools.gpu.runner import Runner
end_on_sigterm()
def hang(session):
    session.wait(session.launch("sleeper", ["tests.gpu.sleeper", {str(pids)!r}], {{}})[0], "the sleeper")
list(Runner(TWO_GPUS, Path({str(tmp_path)!r})).run([check(hang)], print))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL) as runner:
        wait_until(lambda: pids.exists() or runner.poll() is not None)
        assert runner.poll() is None
        runner.terminate()
        assert runner.wait() == 128 + signal.SIGTERM
    assert not [pid for pid in pids.read_text().split() if is_alive(pid)]


def is_alive(pid: str) -> bool:
    status = Path("/proc", pid, "stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] not in ("Z", "X")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("one\n[rank1]: Traceback:\n[rank1]: torch.OutOfMemoryError: CUDA\nlast\n", "torch.OutOfMemoryError: CUDA"),
        ("trainer: error: write more\nRuntimeError: later\n", "trainer: error: write more"),
        ("host:1 [0] NCCL WARN no device\n", "host:1 [0] NCCL WARN no device"),
        ("preflight: node=a processes=2\npreflight: node=b fault: no GPU\nlast\n", "preflight: node=b fault: no GPU"),
        ("preflight: error: a is slow\nlast\n", "preflight: error: a is slow"),
        ("one\nlast\n\n", "last"),
        ("", "no output"),
    ],
)
def test_the_first_error_of_a_log_is_quoted(tmp_path: Path, text: str, error: str) -> None:
    log = tmp_path / "program.log"
    log.write_text(text)
    assert first_error(log) == error
