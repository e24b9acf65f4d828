"""`python -m tests.trainer.crash DIR`: publishes into DIR, killed at each line of the publisher in turn.

The process is forked and killed in the child, so that the hundreds of attempts take about a second; it must therefore
stay free of torch, whose threads would not survive a fork. Prints, attempt by attempt, what a reader then finds.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from trainer.checkpoint import publish as publisher
from trainer.checkpoint.publish import InvalidCheckpointError, Write, publish, verify

CONTENTS = {"weights": bytes(3_000_000), "state": b"{}"}


def writer(content: bytes) -> Write:
    """A function that writes `content`."""

    def write(stream: BinaryIO) -> None:
        stream.write(content)

    return write


FILES = {name: writer(content) for name, content in CONTENTS.items()}


def kill_at_line(number: int) -> None:
    """From now on, SIGKILL before the `number`th line of the publisher runs."""
    lines = itertools.count(1)

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != publisher.__file__:
            return None
        if event == "line" and next(lines) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def attempt(path: Path, line: int) -> bool:
    """Publishes `path` in a child that is killed at `line`; whether it got to the end."""
    child = os.fork()
    if child == 0:
        kill_at_line(line)
        publish(path, FILES)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def found(path: Path) -> str:
    """`nothing`, `whole`, or what is wrong."""
    if not path.exists():
        return "nothing"
    try:
        verify(path, frozenset(FILES))
    except InvalidCheckpointError as error:
        return str(error)
    return "whole"


def main(directory: Path) -> None:
    """Kills at the first line, the second, ... until the publisher gets to its end."""
    older = directory / "epoch-0000"
    publish(older, FILES)
    for line in itertools.count(1):
        path = directory / f"epoch-{line:04d}"
        completed = attempt(path, line)
        print(found(path), found(older), sep="\t")
        if completed:
            return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
