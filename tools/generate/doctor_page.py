"""The example and the scores of docs/doctor.md, and the tables of docs/messages.md: all causes that doctor knows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path

from tests.validator.doctor.measuring import HELD_OUT, MENDED, Score, measure
from tools import markdown
from tools.generate.example import example
from trainyard.cli.doctor import command
from trainyard.commands.doctor.catalogue import FAMILIES
from trainyard.commands.doctor.cause import Cause, Level

ROOT = Path(__file__).parents[2]
PAGE = "docs/doctor.md"
MESSAGES = "docs/messages.md"
FILES = (PAGE, MESSAGES)
# Two pods: the second one loses its peer because the first one has too little GPU memory.
LOGS = {
    "logs/llm-worker-0.log": (
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has 79.10 GiB.\n"
    ),
    "logs/llm-worker-1.log": (
        "[rank9]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1333, "
        "remote process exited or there was a network error\n"
    ),
}
_SCORES = (
    "logs of public issues",
    "logs",
    "causes",
    "found",
    "wrongly reported",
    "precision",
    "recall",
    "first failure",
)
# Each measured at the commit that added the logs, before the first change after they were judged; the row of 26 was
# measured after the other logs of its set were mended.
_BLIND = (
    ("first 57, before any change", Score(logs=57, found=22, extra=4, missed=33, first_found=2, first=7)),
    ("next 58, before any change", Score(logs=58, found=6, extra=4, missed=52, first_found=0, first=5)),
    ("next 20, before any change", Score(logs=20, found=9, extra=0, missed=11, first_found=1, first=1)),
    ("next 70, before any change", Score(logs=70, found=34, extra=6, missed=36, first_found=4, first=5)),
    ("next 28, before any change", Score(logs=28, found=13, extra=5, missed=17, first_found=0, first=0)),
    ("next 74, before any change", Score(logs=74, found=35, extra=14, missed=39, first_found=5, first=5)),
    ("26 of them, after the others were mended", Score(logs=26, found=15, extra=5, missed=11, first_found=1, first=1)),
    ("last 33, before any change", Score(logs=33, found=21, extra=3, missed=12, first_found=4, first=4)),
)
_COLUMNS = ("message", "cause", "rules", "what to do")


def _example() -> Iterator[str]:
    """Yield the command with its output for the two logs."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, text in LOGS.items():
            Path(name).parent.mkdir(exist_ok=True)
            Path(name).write_text(text)
        yield from example(command, "logs/")


def _accuracy() -> Iterator[str]:
    scores = (*_BLIND, ("held out", measure(HELD_OUT)), ("mended", measure(MENDED)))
    yield ""
    yield from markdown.table(_SCORES, (_score(name, score) for name, score in scores))
    yield ""


def _score(name: str, score: Score) -> Sequence[str]:
    causes = score.found + score.missed
    counts = map(str, (score.logs, causes, score.found, score.extra))
    return name, *counts, f"{score.precision:.0%}", f"{score.recall:.0%}", f"{score.first_found} of {score.first}"


def _tables() -> Iterator[str]:
    for title, causes in FAMILIES.items():
        yield ""
        yield f"## {title}"
        yield ""
        yield from markdown.table(_COLUMNS, map(_row, causes))
    yield ""


def _row(cause: Cause) -> Sequence[str]:
    shown = cause.messages or tuple(dict.fromkeys(sign.text.strip() for sign in cause.signs))
    messages = ", ".join(f"`{text}`" for text in shown) or "dumps of the flight recorder"
    kind = "" if cause.level is Level.CAUSE else f" ({cause.level})"
    rules = ", ".join(f"[`{name}`](rules/{name}.md)" for name in cause.rules)
    return messages, f"`{cause.name}`{kind}: {cause.title}. {cause.explanation}", rules or "none", cause.remedy


def write(root: Path) -> None:
    """Write the pages below a root, with each section between its markers."""
    (root / "docs").mkdir(exist_ok=True)
    page = markdown.replace_section((ROOT / PAGE).read_text(), "example", _example())
    (root / PAGE).write_text(markdown.replace_section(page, "accuracy", _accuracy()))
    messages = markdown.replace_section((ROOT / MESSAGES).read_text(), "table", _tables())
    (root / MESSAGES).write_text(messages)
