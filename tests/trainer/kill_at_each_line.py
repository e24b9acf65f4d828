"""`python -m tests.trainer.crash DIR CASES`: one run on DIR that is killed at CASES different lines of its code.

Each life of the run is a fork of this process: it resumes, saves the next step, and is killed before a line of what
touches the disk runs, in whatever thread. Forking is what makes a thousand lives cost less than a minute, and needs a
process with a single thread. Prints, life by life, how it ended, at which step it began and what a reader then finds.
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
from trainer.checkpoint import manifest, tensors
from trainer.checkpoint.catalogue import newest_in, published
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

from .toy import Toy, manager_of, run

# All that touches the disk: ours, PyTorch's, and the removal of folders.
TRACED = (str(Path(trainer.checkpoint.__file__).parent), filesystem.__file__, shutil.__file__)
HANGS_AFTER_SECONDS = 30
# Two checkpoints are kept and three steps saved: the third save removes the first.
KEPT = 2


def trace(number: int) -> list[int]:
    """From now on, SIGKILL before the `number`th traced line runs, in any thread; returns the counter of lines."""
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
    """One life: it is to resume at `step` and save the next, and is killed at `line`. Returns the lines that it had."""
    signal.alarm(HANGS_AFTER_SECONDS)
    seen = trace(line)
    toy = Toy()
    manager = manager_of(directory, toy, keep_checkpoints=KEPT)
    progress = manager.resume()
    if progress is None or progress.step != step or not toy.is_at(step):
        os._exit(1)
    manager.save(toy.train_to(step + 1))
    manager.before_update()
    toy.train_to(0)
    manager.wait(required=True)
    return seen[0]


def ended(directory: Path, step: int, line: int) -> str:
    """How a life in a fork ended: `killed`, `done`, `hung`, or what it was instead."""
    child = os.fork()
    if child == 0:
        live(directory, step, line)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "done", -signal.SIGKILL: "killed", -signal.SIGALRM: "hung"}.get(status, f"status {status}")


def found(directory: Path) -> str:
    """The step of the newest checkpoint, or what is wrong with it or with an older one."""
    try:
        for _, path in published(directory):
            manifest.verify(path, Peers())
        path, state = newest_in(directory)
        toy = Toy()
        tensors.read(path, toy.state(), Peers())
    except CheckpointError as error:
        return str(error)
    toy.load_extras(state.extras)
    return str(state.progress.step) if toy.is_at(state.progress.step) else f"{path} is not of its step"


def lines_of(directory: Path) -> int:
    """How many lines a life has that nobody ends."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(live(directory, KEPT, 0)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return int(os.read(reader, 32))


def main(directory: Path, cases: int) -> None:
    """Lines are chosen at equal distances over all that a life has, each once."""
    warnings.simplefilter("ignore")  # PyTorch warns that it saves without a process group
    os.fsync = lambda _: None  # type: ignore[assignment]  # it is for those who pull the plug, and slow
    results, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115
    run(directory, *range(1, KEPT + 1), keep_checkpoints=KEPT)
    step, lines = KEPT + 1, lines_of(directory)
    # A collection in a fork would touch, and so copy, all that it has from here.
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
