"""mpirun does not know one of its options, or takes an option without its dash for the program.

Open MPI, MPICH and Intel MPI have programs of one name and different options: `-H` and `--mca` are options of Open MPI,
`-hosts` and `-genv` those of MPICH and Intel MPI. An unknown option ends the launcher before it starts a rank. A word
without a dash is the program: with `mca mpi_warn_on_fork 0`, mpirun looks for a program `mca`. `--bind-to` and
`--map-by` take places of a node, such as `core`, `numa` and `ppr:8:node`; there is none for GPUs. `PE=N` behind a place
has a number, and `--rank-by` is `slot`, `node`, `fill`, `span` or a place.

`mpiImplementation` of an MPIJob tells the implementation, and is OpenMPI by default. Elsewhere, the rule looks at
commands with options that Open MPI alone has. It leaves out Intel MPI, except for these options.

Write the option as the message says.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import decimal, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.facts.programs.mpi_options import HYDRA, OPEN_MPI, OPEN_MPI_ONLY, PLACEMENT, RESOURCES
from trainyard.model.run import Command

_OTHERS = {"hosts": "host", "genv": "x", "ppn": "npernode", "perhost": "npernode", "f": "hostfile", "env": "x"}
_COUNTS = ("np", "n", "npernode", "N")
_TABLES = {"OpenMPI": OPEN_MPI, "MPICH": HYDRA}
_SHOWN = {
    "bind-to": ("none", "core", "socket", "numa", "hwthread"),
    "map-by": ("slot", "node", "core", "socket", "numa", "ppr:N:node"),
    "rank-by": ("slot", "node", "fill", "span"),
}
_NAMES = {"OpenMPI": "Open MPI", "Intel": "Intel MPI"}


@rule(
    code="SC019",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "openpmix/prrte src/mca/schizo/ompi/schizo_ompi.c; pmodels/mpich src/pm/hydra/mpiexec/options.c",
        "github.com/mlcommons/storage issue 86, github.com/NascentCore/3k pull 264",
        "github.com/os-autoinst/os-autoinst-distri-opensuse pull 15947",
    ),
    needs=("mpi", "prte"),
)
def mpirun_option_unknown(command: Command, context: Context) -> Iterator[Problem]:
    """Report options of another implementation, and misspelt ones."""
    if command.program not in MPI_LAUNCHERS:
        return
    kind = _implementation(command, context)
    table = _TABLES.get(kind)
    shown = _NAMES.get(kind, kind)
    words, index = command.words, 1
    while index < len(words) and words[index].startswith("-"):
        name = words[index].lstrip("-").partition("=")[0]
        if "$" in name or "{" in name or not name or any(one.isspace() for one in words[index]):
            return
        if kind in ("MPICH", "Intel") and name in OPEN_MPI_ONLY and (table is None or name not in table):
            yield _unknown(
                command, index, shown, "write the options of this implementation, or set `mpiImplementation`"
            )
            return
        if table is None:
            return
        if name not in table:
            near = _OTHERS.get(name) if table is OPEN_MPI else None
            near = near or closest_match(name, sorted(table), 0.8)
            told = f"did you mean `{'-' if len(near) < 2 else '--'}{near}`?" if near else "remove it"
            yield _unknown(command, index, shown, told)
            return
        fault = _value_fault(command, index, name, table)
        if fault is not None:
            yield fault
            return
        index += 1 + (0 if "=" in words[index] and table[name] == 1 else table[name])
    if table is OPEN_MPI and _is_value_of_x(words, index):
        yield Problem(
            command.word_at[index],
            f"mpirun takes `{words[index]}` for the program: `-x` has one word, `NAME=VALUE`",
            f"write `-x {words[index - 1]}={words[index]}`",
        )
        return
    if table is not None and index < len(words) and words[index] in OPEN_MPI and len(words) > index + 2:
        yield Problem(
            command.word_at[index],
            f"mpirun takes `{words[index]}` for the program, because it has no dash",
            f"write `--{words[index]}`",
        )


def _value_fault(command: Command, index: int, name: str, table: dict[str, int]) -> Problem | None:
    """Returns the fault in the value of a known option: a word for a number, or a place that no node has."""
    words = command.words
    if name in _COUNTS and index + 1 < len(words) and _is_word(words[index + 1]):
        said = f"`{words[index]}` of mpirun takes a number, not `{words[index + 1]}`: it stops"
        return Problem(command.word_at[index + 1], said, "write the number of processes")
    place = index if "=" in words[index] else index + 1
    if table is not OPEN_MPI or name not in PLACEMENT or place >= len(words):
        return None
    value = words[place].partition("=")[2] if place == index else words[place]
    told = _placement(name, value)
    return Problem(command.word_at[place], f"mpirun takes no `--{name} {value}`: it stops", told) if told else None


def _placement(name: str, value: str) -> str:
    """Returns what to write in place of a value that mpirun does not take; empty if it may take it."""
    word, *rest = value.lower().split(":")
    if "$" in value or "{" in value or not word:
        return ""
    word = word.partition("=")[0]
    if not _is_among(word, PLACEMENT[name]):
        near = closest_match(word, PLACEMENT[name], 0.7)
        return f"did you mean `{near}`?" if near else f"write one of {format_list(f'`{one}`' for one in _SHOWN[name])}"
    elements = next((one for one in rest if one.partition("=")[0] == "pe"), None)
    if elements is not None and not (decimal(elements.partition("=")[2]) or 0):
        return "write `PE=N`, with the number of cores of each process"
    counted = len(rest) > 1 and rest[0].isdecimal() and _is_among(rest[1], RESOURCES)
    return "" if word != "ppr" or counted else "write `ppr:N:node`, with N processes on each node"


def _is_among(word: str, known: tuple[str, ...]) -> bool:
    """Whether a word is a known one: releases of Open MPI from 5 compare as many letters as both have."""
    return any(word.startswith(one) or one.startswith(word) for one in known if word)


def _is_value_of_x(words: tuple[str, ...], index: int) -> bool:
    """Whether the word behind the options follows `-x NAME`, and has more options of mpirun behind it."""
    if not 2 < index < len(words) - 2 or words[index - 2] != "-x" or not words[index + 1].startswith("-"):
        return False
    return words[index + 1].lstrip("-").partition("=")[0] in OPEN_MPI_ONLY | {"bind-to", "map-by"}


def _is_word(text: str) -> bool:
    return text.isalpha()


def _unknown(command: Command, index: int, shown: str, told: str) -> Problem:
    return Problem(command.word_at[index], f"mpirun of {shown} has no option `{command.words[index]}`: it stops", told)


def _implementation(command: Command, context: Context) -> str:
    """Returns the name of the implementation; empty if the files do not tell it."""
    run = context.run
    if run is not None and run.kind == "MPIJob":
        job = context.project.named("MPIJob", run.name, run.namespace)
        return (text(job.tree, "spec", "mpiImplementation") or "OpenMPI") if job is not None else ""
    own = {word.lstrip("-") for word in command.words[1:] if word.startswith("-")}
    return "OpenMPI" if own & {"allow-run-as-root", "mca"} else ""
