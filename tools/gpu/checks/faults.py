"""Faults: a killed rank, an error, SIGTERM and a hang."""

from __future__ import annotations

import os
import re
import signal
import time

from tools.gpu import flight_record, training
from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError
from tools.gpu.session import Session, first_error
from tools.gpu.training import Run

SAVE_STEPS = 5
STOPPED_STATUS, HUNG_STATUS = 128 + signal.SIGTERM, 128 + signal.SIGABRT
HANG_SECONDS = 5
# In place no process is replaced: a rendezvous, NCCL and the checkpoint take seconds.
RESTART_SECONDS = 60
_FAULTY = "tools.gpu.programs.faulty_trainer"
_ENDLESS_WITH_SAVES = (training.ENDLESS, f"--checkpoint-steps={SAVE_STEPS}")


def killed_rank(session: Session) -> Measured:
    """Kills the last rank, and waits for the first step after the restart."""
    run = training.begin(session, "run", *_ENDLESS_WITH_SAVES, "--in-place-restarts=1", ranks=session.machine.ranks)
    saved = run.wait_for("saved")[-1]["saved_step"]
    before = training.supervisors(run)
    killed_at = time.time()
    os.kill(training.rank_of(before[-1]), signal.SIGKILL)
    started = run.wait_for("started", 2)[-1]
    if started["step"] < saved:
        raise CheckFailedError(f"the run resumes from step {started['step']}, and step {saved} was saved")
    session.wait_until(lambda: run.events("step")[-1]["time"] > started["time"], "a step after the restart")
    stepped = next(event["time"] for event in run.events("step") if event["time"] > started["time"])
    if training.supervisors(run) != before:
        raise CheckFailedError("torchrun started the ranks, and not their supervisors")
    seconds = stepped - killed_at
    if seconds > RESTART_SECONDS:
        raise CheckFailedError(f"the first step after the kill took {seconds:.1f} s: at most {RESTART_SECONDS} s")
    return {"ranks": session.machine.ranks, "resumed_step": started["step"], "seconds": seconds}


def raised_error(session: Session) -> Measured:
    """Raises an error in the last rank, and lets torchrun restart all of them."""
    run = _begin_faulty(session, "raise", restarts=1)
    started = run.wait_for("started", 2)[-1]
    if not started["step"]:
        raise CheckFailedError("the run starts from step 0, and there was a checkpoint")
    session.wait_until(lambda: run.events("step")[-1]["time"] > started["time"], "a step after the restart")
    return {"ranks": session.machine.ranks, "resumed_step": started["step"]}


def stopped(session: Session) -> Measured:
    """Sends SIGTERM to the supervisor of the last rank."""
    run = training.begin(session, "run", training.ENDLESS, ranks=session.machine.ranks)
    run.wait_for("step", 3)
    sent_at = time.monotonic()
    os.kill(training.supervisors(run)[-1], signal.SIGTERM)
    run.finish()
    seconds = time.monotonic() - sent_at
    text = run.log.read_text()
    saved = re.search(r"stopped by SIGTERM: step=(\d+) is saved", text)
    if saved is None:
        raise CheckFailedError(f"the run does not report its save: {first_error(run.log)}")
    _require_status(run, STOPPED_STATUS)
    if not (run.checkpoints / f"step-{int(saved[1]):08}" / "manifest.json").exists():
        raise CheckFailedError(f"there is no checkpoint of step {saved[1]}")
    return {"ranks": session.machine.ranks, "saved_step": int(saved[1]), "seconds": seconds}


def hung_rank(session: Session) -> Measured:
    """Lets the last rank hang, and reads what the watchdogs write."""
    run = _begin_faulty(session, "hang", f"--hang-seconds={HANG_SECONDS}")
    run.finish()
    _require_status(run, HUNG_STATUS)
    dumps = session.folder / "run-dumps"
    if not list(dumps.glob("stacks-rank-*.txt")):
        raise CheckFailedError(f"no rank wrote its stacks: {first_error(run.log)}")
    records = sorted(dumps.glob("nccl-rank-*"))
    if session.machine.device == "cuda" and not records:
        raise CheckFailedError(f"no rank wrote its flight record: {first_error(run.log)}")
    recorded = 0
    for path in records:
        try:
            recorded += len(flight_record.collectives(path.read_bytes()))
        except ValueError as error:
            raise CheckFailedError(f"{path.name}: {error}") from error
    return {"ranks": session.machine.ranks, "records": len(records), "collectives": recorded}


def _begin_faulty(session: Session, fault: str, *flags: str, restarts: int = 0) -> Run:
    ranks = session.machine.ranks
    variables = {
        "FAULT": fault,
        "FAULT_RANK": str(ranks - 1),
        "FAULT_RECORD": str(session.folder / "struck"),
        "FAULT_CHECKPOINTS": str(session.folder / "run-checkpoints"),
        # Else ranks that torchrun starts again find addresses of ended ones: rule torchrun-restart-on-shared-store.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }
    flags = (*_ENDLESS_WITH_SAVES, "--grace-seconds=5", *flags)
    return training.begin(session, "run", *flags, ranks=ranks, program=_FAULTY, restarts=restarts, variables=variables)


def _require_status(run: Run, status: int) -> None:
    found = re.findall(r"exitcode\s*:\s*(-?\d+)", run.log.read_text())
    if str(status) not in found:
        raise CheckFailedError(f"torchrun reports the exit status {', '.join(found) or 'of no rank'}, not {status}")


CHECKS = (
    Check(
        name="killed-rank",
        what="SIGKILL of a rank; its supervisor starts it again in place",
        bar=f"training resumes from the newest checkpoint within {RESTART_SECONDS} s: no process is replaced, and NCCL "
        "forms its communicator again",
        run=killed_rank,
        rehearsed=True,
    ),
    Check(
        name="raised-error",
        what="an error in a rank; torchrun restarts all of them",
        bar="the run resumes from a checkpoint and takes further steps",
        run=raised_error,
        rehearsed=True,
    ),
    Check(
        name="sigterm",
        what="SIGTERM to a rank",
        bar="all ranks save the same step and exit with 143",
        run=stopped,
        rehearsed=True,
    ),
    Check(
        name="hung-rank",
        what="a rank that hangs",
        bar="the ranks exit with 134 and leave their stacks, and flight records of NCCL that can be read",
        run=hung_rank,
        rehearsed=True,
    ),
)
