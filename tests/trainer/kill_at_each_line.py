"""`python -m tests.trainer.kill_at_each_line DIR CASES`: a run on DIR, killed at CASES different lines of code.

Each attempt is a fork of this process. It resumes, saves the next step, and is killed before a line that touches the
disk runs, in any thread. Forking makes a thousand attempts take less than a minute, and requires a process with a
single thread. Prints for each attempt how it ended, at which step it began, and what a reader finds afterwards.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import threading
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from torch.distributed.checkpoint import filesystem

import trainer.checkpoint
from tests.trainer.fake_strategy import FakeStrategy, new_manager, run
from trainer.checkpoint import manifest, tensors
from trainer.checkpoint.catalog import list_checkpoints, require_newest_valid
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

# All code that touches the disk: the trainer's, PyTorch's, and the removal of folders.
TRACED = (str(Path(trainer.checkpoint.__file__).parent), filesystem.__file__, shutil.__file__)
HANGS_AFTER_SECONDS = 30
# Two checkpoints are kept and three steps saved: the third save removes the first.
KEPT = 2


def trace(number: int) -> list[int]:
    """Kills this process before the `number`th traced line runs, in any thread; returns the counter of lines."""
    seen = [0]

    def look(frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(TRACED):
            return None
        if event == "line":
            seen[0] += 1
            if seen[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
        return look

    threading.settrace(look)
    sys.settrace(look)
    return seen


def live(directory: Path, step: int, line: int) -> int:
    """Runs one attempt: resumes at `step`, saves the next step, and is killed at `line`.

    Returns:
        The number of traced lines.
    """
    signal.alarm(HANGS_AFTER_SECONDS)
    seen = trace(line)
    strategy = FakeStrategy()
    manager = new_manager(directory, strategy, keep_checkpoints=KEPT)
    train_state = manager.resume()
    if train_state is None or train_state.step != step or not strategy.is_at(step):
        os._exit(1)
    manager.save(strategy.train_to(step + 1))
    manager.wait_for_staging()
    strategy.train_to(0)
    manager.wait(required=True)
    return seen[0]


def ended(directory: Path, step: int, line: int) -> str:
    """Runs one attempt in a fork; returns how it ended: `killed`, `done`, `hung`, or its status."""
    child = os.fork()
    if child == 0:
        live(directory, step, line)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "done", -signal.SIGKILL: "killed", -signal.SIGALRM: "hung"}.get(status, f"status {status}")


def found(directory: Path) -> str:
    """Returns the step of the newest checkpoint, or a description of what is wrong with it or with an older one."""
    try:
        for _, path in list_checkpoints(directory):
            manifest.verify_files(path, Peers())
        path, state = require_newest_valid(directory)
        strategy = FakeStrategy()
        tensors.read_tensors(path, strategy.state_dict(), Peers())
    except CheckpointError as error:
        return str(error)
    strategy.load_extras(state.extras)
    return str(state.train_state.step) if strategy.is_at(state.train_state.step) else f"{path} is not of its step"


def lines_of(directory: Path) -> int:
    """Returns the number of traced lines in an attempt that is not killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(live(directory, KEPT, 0)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return int(os.read(reader, 32))


def main(directory: Path, cases: int) -> None:
    """Runs the attempts, killed at lines in equal distances, each line once."""
    warnings.simplefilter("ignore")  # PyTorch warns that it saves without a process group
    os.fsync = lambda _: None  # type: ignore[assignment]  # slow, and without effect unless the power fails
    results, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115
    run(directory, *range(1, KEPT + 1), keep_checkpoints=KEPT)
    step, lines = KEPT + 1, lines_of(directory)
    # A garbage collection in a fork would write to, and so copy, all pages shared with this process.
    gc.collect()
    gc.freeze()
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        raise RuntimeError("this process has threads, and forks of it may hang")
    for line in sorted({1 + case * lines // cases for case in range(cases)}):
        how = ended(directory, step, line)
        now = found(directory)
        print(how, step, now, sep="\t", file=results, flush=True)
        step = int(now)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
