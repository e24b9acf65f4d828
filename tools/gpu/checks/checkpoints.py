"""Saves in the background, and the memory that processes hold on GPUs of others."""

from __future__ import annotations

import csv
import shutil
from collections import Counter

from tools.gpu import training
from tools.gpu.check import Check, Measured
from tools.gpu.errors import CheckFailedError, NotRunError
from tools.gpu.session import Session, first_error

STEPS, SAVE_STEPS = 12, 3
# The end of the run saves once more.
SAVES = STEPS // SAVE_STEPS


def async_save(session: Session) -> Measured:
    """Trains with saves in the background, and verifies the newest checkpoint."""
    return _save(session, {})


def stray_context(session: Session) -> Measured:
    """Trains with saves, while PyTorch refuses a context on another GPU."""
    if not session.machine.knows_stray_contexts:
        raise NotRunError(f"needs a torch that knows TORCH_CUDA_CHECK_STRAY_CONTEXT, which {_torch(session)} does not")
    return _save(session, {"TORCH_CUDA_CHECK_STRAY_CONTEXT": "error"})


def one_gpu_for_each_process(session: Session) -> Measured:
    """Asks the driver which processes hold memory of which GPU, during a run with saves."""
    if shutil.which("nvidia-smi") is None:
        raise NotRunError("needs nvidia-smi")
    before = _holders(session)
    run = training.begin(
        session, "run", training.ENDLESS, f"--checkpoint-steps={SAVE_STEPS}", ranks=session.machine.gpus
    )
    run.wait_for("saved", 2)
    held = _holders(session) - before
    if not held:
        raise NotRunError("nvidia-smi shows no process here, as in a container with process IDs of its own")
    of_each = Counter(process for process, _ in held)
    several = sorted(process for process, gpus in of_each.items() if gpus > 1)
    if several:
        raise CheckFailedError(f"processes {', '.join(several)} hold memory of more than one GPU: {sorted(held)}")
    return {"processes": len(of_each), "gpus": len({gpu for _, gpu in held})}


def _save(session: Session, variables: dict[str, str]) -> Measured:
    flags = (f"--steps={STEPS}", f"--checkpoint-steps={SAVE_STEPS}", "--async-checkpoints")
    run = training.begin(session, "run", *flags, ranks=session.machine.ranks, variables=variables)
    run.succeed()
    if failed := run.events("save_failed"):
        raise CheckFailedError(f"{len(failed)} saves failed: {first_error(run.log)}")
    newest = max((event["saved_step"] for event in run.events("saved")), default=0)
    if newest != STEPS:
        raise CheckFailedError(f"the newest checkpoint is of step {newest}, and the last step is {STEPS}")
    process, log = session.launch("evaluate", ["trainer.evaluate", str(run.checkpoints)], {})
    if session.wait(process, "trainer.evaluate"):
        raise CheckFailedError(f"the checkpoint is not valid: {first_error(log)}")
    slowest = max(event["parts"]["checkpoint"] for event in run.events("step"))
    return {"ranks": session.machine.ranks, "saves": SAVES, "longest_stall_seconds": slowest}


def _holders(session: Session) -> set[tuple[str, str]]:
    """Returns each process and each GPU of which it holds memory."""
    command = ("nvidia-smi", "--query-compute-apps=pid,gpu_uuid", "--format=csv,noheader")
    rows = csv.reader(session.output(*command).splitlines(), skipinitialspace=True)
    return {(row[0], row[1]) for row in rows if len(row) > 1}


def _torch(session: Session) -> str:
    return f"torch {session.machine.torch}"


CHECKS = (
    Check(
        name="async-save",
        what=f"{STEPS} steps on all GPUs with a save every {SAVE_STEPS} steps in the background",
        bar="no save fails, and `trainer.evaluate` verifies the newest checkpoint, which is of the last step",
        run=async_save,
        rehearsed=True,
    ),
    Check(
        name="stray-context",
        what="the same, while PyTorch refuses a CUDA context on the GPU of another rank",
        bar="the run does not fail with TORCH_CUDA_CHECK_STRAY_CONTEXT=error: a stray context costs hundreds of MB "
        "(https://github.com/pytorch/pytorch/pull/191036)",
        run=stray_context,
        gpus=2,
    ),
    Check(
        name="one-gpu-for-each-process",
        what="the driver lists which process holds memory of which GPU, during a run with saves",
        bar="each process holds memory of one GPU only; the driver also sees contexts that appear after set_device",
        run=one_gpu_for_each_process,
        gpus=2,
    ),
)
