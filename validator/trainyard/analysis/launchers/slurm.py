"""Batch scripts of Slurm: their `#SBATCH` directives, and what `srun` starts in them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.facts.programs.launchers import SRUN, Launcher, launcher_in
from trainyard.loaders.manifests.shell import SHELLS, statements, strip_wrappers
from trainyard.model.run import Command, Container, Script
from trainyard.startup import NamedTuple

MARK = "#SBATCH"
# A script that submits others may hold their text in quotes.
_SUBMITS = re.compile(r"(?m)^(?!\s*#).*\bsbatch\b")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"\\]?(\w+)")
_LONG = {"-G": "--gpus", "-N": "--nodes", "-n": "--ntasks", "-w": "--nodelist", "--tasks-per-node": "--ntasks-per-node"}
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# `python -m torch.distributed.run` has three words.
_NEAR = 3
_PROGRAMS = frozenset((*SHELLS, "python", "python3"))
# Words of srun before its program, and characters of a word with the values of variables.
_REACH, _LONGEST = 64, 8192
# Values that stand for the number of nodes of the job.
NODES = ("SLURM_NNODES", "SLURM_JOB_NUM_NODES")


class Directive(NamedTuple):
    """A line for sbatch: the option by its long name, its value, and the line, counted from 0."""

    name: str
    value: str
    line: int


class Batch(NamedTuple):
    """A batch script. `ignored` are the lines of directives behind the first command, which sbatch does not read."""

    script: Script
    directives: tuple[Directive, ...]
    ignored: tuple[int, ...]

    def option(self, name: str) -> str | None:
        """Returns the value of a directive; the last one applies."""
        return next((one.value for one in reversed(self.directives) if one.name == name), None)

    @property
    def nodes(self) -> int | None:
        """The number of nodes; None if it is not told as one number."""
        return decimal(self.option("--nodes") or "")

    @property
    def tasks_per_node(self) -> int | None:
        """The number of tasks on each node, None if it is not told."""
        return _per_node(self.option("--ntasks-per-node"), self.option("--ntasks"), self.nodes)


class Step(NamedTuple):
    """A launcher in the script, with the words of its command, where a shell replaced known variables.

    `nodes` and `tasks_per_node` are those of `srun`; both are None if `srun` does not start it, or if they are unknown.
    """

    command: Command
    launcher: Launcher | None
    at: Place
    of_srun: bool
    nodes: int | None
    tasks_per_node: int | None


def batches(container: Container) -> Iterator[Batch]:
    """Yields the batch scripts that a container, or a file, consists of."""
    for script in container.scripts:
        batch = batch_of(script)
        if batch is not None:
            yield batch


def batch_of(script: Script) -> Batch | None:
    """Returns the batch script; None if a script has no directives."""
    batch = _read(script) if MARK in script.text else None
    return batch if batch is not None and (batch.directives or batch.ignored) else None


@functools.lru_cache(maxsize=16)
def _read(script: Script) -> Batch:
    found, ignored, started = list[Directive](), list[int](), False
    for number, line in commands_and_comments(script.text):
        if line.startswith(MARK) and line[len(MARK) :][:1].isspace():
            if started:
                ignored.append(number)
            else:
                found += [Directive(name, value, number) for name, value in _options(line[len(MARK) :])]
        started = started or (bool(line.strip()) and not line.lstrip().startswith("#"))
    if ignored and _SUBMITS.search(script.text):
        ignored = []
    return Batch(script, tuple(found), tuple(ignored))


def commands_and_comments(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of a script with their numbers, without those of here-documents."""
    end = ""
    for number, line in enumerate(text.split("\n")):
        if end:
            end = "" if line.strip() == end else end
            continue
        yield number, line
        opened = None if line.lstrip().startswith("#") or "<<<" in line else _HERE_DOCUMENT.search(line)
        end = opened[1] if opened is not None else ""


def _options(text: str) -> Iterator[tuple[str, str]]:
    words = re.sub(r"\s#.*", "", text).split()
    index = 0
    while index < len(words):
        word = words[index]
        name, equals, value = word.partition("=")
        if not word.startswith("--") and len(word) > 2 and word.startswith("-"):
            name, equals, value = word[:2], "=", word[2:].lstrip("=")
        following = words[index + 1] if index + 1 < len(words) else ""
        if word.startswith("-") and not equals and following and not following.startswith("-"):
            value, index = following, index + 1
        if word.startswith("-"):
            yield _LONG.get(name, name), value
        index += 1


def _per_node(told: str | None, total: str | None, nodes: int | None) -> int | None:
    if told is not None:
        return decimal(told)
    count = decimal(total or "")
    return count // nodes if count and nodes and count % nodes == 0 else None


def steps(batch: Batch, container: Container) -> Iterator[Step]:
    """Yields the commands that `srun` starts, and those of launchers without it."""
    known = variables(container)
    for command in container.commands:
        if command.program == SRUN:
            yield from _of_srun(command, batch, known)
        elif (found := launcher_in(command.words)) is not None and found.after <= _NEAR:
            words = with_values(command.words, known)
            launched = Command(words, (command.at,) * len(words), command.at)
            yield Step(launched, found.launcher, command.at, of_srun=False, nodes=None, tasks_per_node=None)


def variables(container: Container) -> dict[str, str]:
    """Returns the variables that the script sets, as they are written."""
    return {setting.name: setting.value or "" for setting in container.settings if setting.via == "script"}


def own_options(command: Command) -> dict[str, str]:
    """Returns the options of `srun` itself by their long names; none if its program is not known."""
    words = command.words
    known = (n for n, word in enumerate(words) if word.rsplit("/", 1)[-1] in _PROGRAMS)
    end = min((n for n in (next(known, 0), _program(words)) if n > 1), default=1)
    return dict(_options(" ".join(words[1:end])))


def _of_srun(command: Command, batch: Batch, known: dict[str, str]) -> Iterator[Step]:
    own = dict(_options(" ".join(word for word in command.words[1:] if not word[:1].isspace())))
    told = decimal(own.get("--nodes", ""))
    nodes = told or batch.nodes
    per_node = _per_node(own.get("--ntasks-per-node"), own.get("--ntasks"), nodes)
    if per_node is None and not {"--ntasks", "--ntasks-per-node"} & own.keys():
        per_node = batch.tasks_per_node
    for words, at in _inner(command, known):
        found = launcher_in(words)
        launcher = found.launcher if found is not None else None
        yield Step(Command(words, (at,) * len(words), at), launcher, at, True, nodes, per_node)


def _inner(command: Command, known: dict[str, str]) -> Iterator[tuple[tuple[str, ...], Place]]:
    """Yields the commands in the words of srun: those of `bash -c`, or the program."""
    words = command.words
    index = next(
        (n for n, word in enumerate(words) if word == "-c" and words[n - 1].rsplit("/", 1)[-1] in SHELLS), None
    )
    if index is not None and index + 1 < len(words):
        text = " ".join(with_values((words[index + 1],), known))
        for statement in statements(text):
            inner = tuple(word.text for word in strip_wrappers(statement.words)[1])
            if inner:
                yield inner, command.word_at[index + 1]
        return
    start = _program(words)
    yield with_values(words[start:], known), command.word_at[start]


def _program(words: tuple[str, ...]) -> int:
    """Returns the index of the launcher behind srun, or of the word behind srun if there is none."""
    for index, word in enumerate(words[1:_REACH], 1):
        found = None if word.startswith("-") else launcher_in(words[index:])
        if found is not None and found.after <= _NEAR:
            return index
    return min(1, len(words) - 1)


def with_values(words: tuple[str, ...], known: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the words with the variables that the script sets; a word that is one variable becomes several words."""
    result = list[str]()
    for word in words:
        text = word
        for _ in range(3):
            if len(text) > _LONGEST:
                break
            text = _VARIABLE.sub(lambda match: known.get(match[1] or match[2], match.group())[:_LONGEST], text)
        alone = _VARIABLE.fullmatch(word) is not None
        result += text.replace("\\\n", " ").split() if alone else [text]
    return tuple(result)


def node_count(step: Step) -> tuple[int | None, str]:
    """Returns the number of nodes that the command names as a number, and its text; None for another form."""
    launcher = step.launcher
    names = launcher.nodes if launcher is not None else ("--trainer.num-nodes", "--num-nodes")
    told = step.command.option(*names) if names else None
    return decimal(told or ""), told or ""
