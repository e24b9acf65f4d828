"""Prefilters many files: several processes lint independent files, and clean ones are dropped and cached.

Everything that is linted is checked together, for which all of it must be in memory. A folder that holds only jobs is
different: no job affects the findings of another. Each file is then linted by itself, and only files with findings are
linted again on the normal path.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard import processors
from trainyard.document.document import TextDocument
from trainyard.document.files import STDIN, Found, open_file
from trainyard.document.source import SCRIPTS, Source
from trainyard.document.text import Text
from trainyard.engine.subjects import Reading
from trainyard.facts.jobs.kubeflow import JOB_KINDS, RUNTIMES
from trainyard.linting import pipeline

if TYPE_CHECKING:
    from trainyard.engine.engine import Engine


# Fewer files are read faster than processes start.
MANY = 64

# Kinds that other files do not affect: a job by itself, but not a runtime, which exists for other objects.
_ALONE = frozenset(JOB_KINDS) - frozenset(RUNTIMES)

_CLEAN, _ALONE_WITH_FINDINGS, _TOGETHER = range(3)


def read_files(found: Sequence[Found], engine: Engine) -> list[Reading]:
    """Returns the readings of the files that need a full lint; one of the others stands for each folder."""
    if len(found) < MANY or any(one.path in (None, STDIN) for one in found):
        return [pipeline.read_input(open_file(one)) for one in found]
    from trainyard.linting.clean_cache import CleanCache

    # A file with a job may start a script, and is judged without it.
    scripts = [one for one in found if one.name.endswith(SCRIPTS)]
    found = [one for one in found if not one.name.endswith(SCRIPTS)] if scripts else found
    memory = CleanCache(engine)
    unknown = memory.unknown(found)
    outcomes = dict(zip(unknown, _outcomes(unknown, engine), strict=True))
    if _TOGETHER in outcomes.values():
        return [pipeline.read_input(open_file(one)) for one in (*found, *scripts)]
    judged = {one.name: pipeline.read_input(open_file(one)) for one in unknown if outcomes[one] != _CLEAN}
    memory.learn(judged)
    clean = {one.folder: one for one in found if one.name not in judged}
    read = (pipeline.read_input(open_file(one)) for one in scripts)
    return [*judged.values(), *map(_clean, clean.values()), *read]


def _clean(found: Found) -> Reading:
    source = Source(found.name, "")
    return Reading(source, (), (), Text(source), found.folder, linted=True)


def _outcomes(found: Sequence[Found], engine: Engine) -> list[int]:
    """Returns the outcome of linting each file by itself."""
    count = min(processors.available(), max(1, len(found) // MANY)) if hasattr(os, "fork") else 1
    if count > 1:
        # Modules that the first files import are then shared with the other processes.
        _judge(found[:2], engine)
    children = [_Child(found[number::count], engine) for number in range(1, count)]
    parts = [_judge(found[::count], engine), *(child.outcomes() for child in children)]
    return [parts[number % count][number // count] for number in range(len(found))]


class _Child:
    """A process that lints a part of the files and reports one byte for each.

    It is forked, and so has the engine and all modules; starting `concurrent.futures` takes a tenth of the whole time.
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
        """Its outcomes. If the process died, its files are linted here, where errors are visible."""
        with os.fdopen(self._pipe, "rb") as stream:
            outcomes = stream.read()
        os.waitpid(self._process, 0)
        return list(outcomes) if len(outcomes) == len(self._found) else _judge(self._found, self._engine)


def _judge(found: Sequence[Found], engine: Engine) -> list[int]:
    files = [open_file(one) for one in found]
    if not all(_is_alone(file.source.text) for file in files):
        return [_TOGETHER] * len(files)
    # Reference counts free the trees; looking for cycles among them costs a third of the time.
    gc.disable()
    try:
        return [_outcome(pipeline.read_input(file), engine) for file in files]
    finally:
        gc.enable()


def _is_alone(text: str) -> bool:
    kinds = [rest.partition("\n")[0].strip() for rest in f"\n{text}".split("\nkind:")[1:]]
    return bool(kinds) and _ALONE.issuperset(kinds)


def _outcome(reading: Reading, engine: Engine) -> int:
    report = pipeline.lint([reading], engine)
    if not _ALONE.issuperset(resource.kind for resource in report.project.resources) or report.project.deepspeeds:
        return _TOGETHER
    # A script beside the file may change without the file.
    has_scripts = any(isinstance(document, TextDocument) for document in report.project.documents)
    says_more = report.findings or report.allowed or report.notes or has_scripts
    return _ALONE_WITH_FINDINGS if says_more else _CLEAN
