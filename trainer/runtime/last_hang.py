"""The last hang of a run, which its next start reads.

A step that suddenly takes longer than the limit looks like a hang. Its run would end at the same step after each
restart. So a run that ended while all of its ranks responded waits longer the next time, until that step is done.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

_NAME = ".last-hang.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class LastHang:
    """A hang of this run.

    Attributes:
        step: The last step that was done.
        seconds: The time without progress after which the ranks ended.
    """

    step: int
    seconds: float


def read_last_hang(directory: Path) -> LastHang | None:
    """Returns the hang noted in `directory`; None if there is none, or if the file is damaged."""
    try:
        content = json.loads((directory / _NAME).read_bytes())
        return LastHang(step=int(content["step"]), seconds=float(content["seconds"]))
    except (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None


def write_last_hang(directory: Path, hang: LastHang) -> None:
    """Notes `hang` in `directory`, instead of an earlier one.

    Raises:
        OSError: The file cannot be written.
    """
    temporary = directory / f"{_NAME}-{os.getpid()}"
    temporary.write_text(json.dumps(asdict(hang)))
    temporary.replace(directory / _NAME)


def remove_last_hang(directory: Path) -> None:
    """Removes the note, if there is one."""
    with suppress(OSError):
        (directory / _NAME).unlink()
