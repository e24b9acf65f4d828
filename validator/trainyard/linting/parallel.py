"""Many files at once: those that stand alone and are clean are set aside, by several processes, and remembered.

Everything that is linted is judged together, for which all of it has to be in memory. A folder with nothing but jobs is
different: no job changes what is found in another. Each file is then judged by itself, and only those in which there
is something to say go on to be judged as ever.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from validator import linting
from validator.facts.kubeflow import RUNTIMES
from validator.files import STDIN, Found, opened
from validator.roads.jobs import KINDS
from validator.source import Source
from validator.text import Text

if TYPE_CHECKING:
    from validator.engine import Engine
    from validator.files import File
    from validator.linting import Reading

# Fewer files are read sooner than processes start.
MANY = 64

# Kinds that other files say nothing of: a job as it stands, but not a runtime, which is there for other objects.
_ALONE = frozenset(KINDS) - frozenset(RUNTIMES)

_CLEAN, _ALONE_WITH_FINDINGS, _TOGETHER = range(3)


def read(found: Sequence[Found], engine: Engine) -> list[Reading]:
    """The readings of the files that are to be judged; one of the others stands for each folder."""
    if len(found) < MANY or any(one.path in (None, STDIN) for one in found):
        return [linting.read(opened(one)) for one in found]
    from validator.memory import Memory

    memory = Memory(engine)
    unknown = memory.unknown(found)
    outcomes = dict(zip(unknown, _outcomes(unknown, engine), strict=True))
    if _TOGETHER in outcomes.values():
        return [linting.read(opened(one)) for one in found]
    judged = {one.name: linting.read(opened(one)) for one in unknown if outcomes[one] != _CLEAN}
    memory.learn(judged)
    clean = {one.folder: one for one in found if one.name not in judged}
    return [*judged.values(), *map(_clean, clean.values())]


def _clean(found: Found) -> Reading:
    source = Source(found.name, "")
    return linting.Reading(source, (), (), Text(source), found.folder, linted=True)


def _outcomes(found: Sequence[Found], engine: Engine) -> list[int]:
    """What comes of judging each file by itself."""
    count = min(_processors(), max(1, len(found) // MANY))
    if count > 1:
        # What the first files import, the other processes have then.
        _judge(found[:2], engine)
    children = [_Child(found[number::count], engine) for number in range(1, count)]
    parts = [_judge(found[::count], engine), *(child.outcomes() for child in children)]
    return [parts[number % count][number // count] for number in range(len(found))]


def _processors() -> int:
    if not hasattr(os, "fork"):
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Child:
    """A process that judges a part of the files and says a byte of each.

    It is forked, and so has the engine and all modules; `concurrent.futures` takes a tenth of the whole time to start.
    """

    def __init__(self, found: Sequence[Found], engine: Engine) -> None:
        self._found, self._engine = found, engine
        self._pipe, write = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            try:
                with os.fdopen(write, "wb") as stream:
                    stream.write(bytes(_judge(found, engine)))
            finally:
                os._exit(0)
        os.close(write)

    def outcomes(self) -> list[int]:
        """Its outcomes; of a process that died the files are judged here, where an error is seen."""
        with os.fdopen(self._pipe, "rb") as stream:
            outcomes = stream.read()
        os.waitpid(self._process, 0)
        return list(outcomes) if len(outcomes) == len(self._found) else _judge(self._found, self._engine)


def _judge(found: Sequence[Found], engine: Engine) -> list[int]:
    files = [opened(one) for one in found]
    if not all(_is_alone(file.source.text) for file in files):
        return [_TOGETHER] * len(files)
    # Trees die by their reference counts; looking for cycles among them costs a third of the time.
    gc.disable()
    try:
        return [_outcome(_read(file), engine) for file in files]
    finally:
        gc.enable()


def _read(file: File) -> Reading:
    """As `linting.read`, without places where that can be: they are for findings, and then the file is read again."""
    from validator import quick

    documents = quick.read(file.source) if file.fault is None else None
    if documents is None:
        return linting.read(file)
    return linting.Reading(file.source, tuple(documents), (), Text(file.source), file.folder)


def _is_alone(text: str) -> bool:
    kinds = [rest.partition("\n")[0].strip() for rest in f"\n{text}".split("\nkind:")[1:]]
    return bool(kinds) and _ALONE.issuperset(kinds)


def _outcome(reading: Reading, engine: Engine) -> int:
    report = linting.lint([reading], engine)
    if not _ALONE.issuperset(resource.kind for resource in report.project.resources) or report.project.deepspeeds:
        return _TOGETHER
    return _ALONE_WITH_FINDINGS if report.findings or report.allowed else _CLEAN
