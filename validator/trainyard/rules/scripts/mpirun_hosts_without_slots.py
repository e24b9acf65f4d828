"""Open MPI or Horovod gets more processes than its hosts have slots, or a list of hosts that is torn, so it stops.

Each mention of a host in `-H` or `--host` is one slot. With `-np 16` and two hosts, mpirun ends with "There are not
enough slots available in the system". `host:8` gives a host eight slots. horovodrun needs the number behind each host.
In a host file, the number is `slots=8`. The hosts are separated by commas: after a space, the next word counts as the
program.

The rule knows Open MPI by its own options, such as `--allow-run-as-root` or `--mca`, and by a host file with `slots=`
in a mounted ConfigMap. It leaves out commands that oversubscribe.

Write the slots behind each host: `-H node-0:8,node-1:8`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from trainyard.analysis.pods.mounted_files import mounted_text
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import HOROVOD, MPI_LAUNCHERS, MPI_PROGRAM
from trainyard.model.run import Command
from trainyard.startup import pattern

HOSTS = ("-H", "-host", "--host", "--hosts")
FILES = ("--hostfile", "-hostfile", "--machinefile", "-machinefile", "--default-hostfile")
COUNTS = ("-np", "--np", "-n", "--n", "-c", "--num-proc")
OWN = frozenset(("--allow-run-as-root", "-allow-run-as-root", "--mca", "-mca", "--bind-to", "--map-by", "--tag-output"))
# A host that follows a list of hosts; no program has such a name.
NEXT_HOST = pattern(r"[\w.-]+:\d+,?")
SLOTS = pattern(r"^[^#\s]\S*[^\n]*?\sslots\s*=\s*(\d+)")


@rule(
    code="SC018",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.open-mpi.org/en/v5.0.x/launching-apps/scheduling.html: slots, --host, --hostfile",
        "horovod/horovod v0.28.1 runner/common/util/hosts.py: parse_hosts_and_slots, get_host_assignments",
        "github.com/dstackai/dstack pull 2451; github.com/open-mpi/ompi issue 3133",
        "github.com/horovod/horovod issues 436 and 978",
    ),
    needs=("mpi", "prte", HOROVOD),
)
def mpirun_hosts_without_slots(command: Command, context: Context) -> Iterator[Problem]:
    """Report fewer slots of hosts than processes, and lists of hosts with spaces."""
    is_horovod = command.program == HOROVOD
    if not is_horovod and command.program not in MPI_LAUNCHERS:
        return
    words = tuple(itertools.takewhile(lambda word: not MPI_PROGRAM.fullmatch(word), command.words[1:]))
    own = command._replace(words=(command.words[0], *words), word_at=command.word_at[: len(words) + 1])
    if any("oversubscribe" in word.lower() for word in words):
        return
    hosts, count = _first(own, HOSTS), _first(own, COUNTS)
    # Beside a file, `-H` chooses among the hosts of the file, which may have slots.
    if hosts is not None and _first(own, FILES) is None and not any(sign in hosts[0] for sign in "${<"):
        if (is_horovod or own.given(OWN)) and (problem := _torn(own, hosts) or _short(hosts, count, is_horovod)):
            yield problem
    elif hosts is None and count is not None:
        yield from _of_file(own, count, context)


def _first(command: Command, names: tuple[str, ...]) -> tuple[str, Place] | None:
    """Returns the value of the first of these options: the launcher's come before those of other programs."""
    for index, word in enumerate(command.words[:-1]):
        name, equals, value = word.partition("=")
        if name in names:
            return (value, command.word_at[index]) if equals else (command.words[index + 1], command.word_at[index + 1])
    return None


def _torn(command: Command, hosts: tuple[str, Place]) -> Problem | None:
    index = command.words.index(hosts[0]) if hosts[0] in command.words else len(command.words)
    following = command.words[index + 1] if index + 1 < len(command.words) else ""
    is_cut = hosts[0].endswith((":", ","))
    if not (following and is_cut) and not NEXT_HOST.fullmatch(following):
        return None
    message = f"the list of hosts ends at the space after `{hosts[0]}`: {command.program} takes `{following}` for the "
    return Problem(hosts[1], f"{message}program", "write the hosts without spaces: `-H node-0:8,node-1:8`")


def _short(hosts: tuple[str, Place], count: tuple[str, Place] | None, is_horovod: bool) -> Problem | None:
    parts = [one.partition(":") for one in hosts[0].split(",") if one]
    bare = next((name for name, colon, _ in parts if is_horovod and not colon), None)
    if bare is not None:
        message = f"horovodrun needs the number of slots behind host `{bare}`"
        return Problem(hosts[1], message, f"write the number of its processes: `{bare}:{count[0] if count else 8}`")
    processes = decimal(count[0]) if count is not None else None
    slots = [1 if not colon else decimal(number) for _, colon, number in parts]
    total = sum(one for one in slots if one is not None)
    if processes is None or None in slots or total >= processes:
        return None
    each = -(-processes // len(parts))
    fixed = ",".join(f"{name}:{each}" for name, _, _ in parts)
    launcher = HOROVOD if is_horovod else "mpirun"
    return Problem(
        hosts[1],
        f"these hosts have {total} slots together, and {launcher} is to start {processes} processes: it refuses",
        f"write the slots behind each host: `{fixed}`",
    )


def _of_file(command: Command, count: tuple[str, Place], context: Context) -> Iterator[Problem]:
    path, processes = _first(command, FILES), decimal(count[0])
    if path is None or processes is None or context.container is None:
        return
    known = mounted_text(path[0], context.container, context)
    lines = [] if known is None else [line for line in known[0].split("\n") if line.strip() and line.strip()[0] != "#"]
    slots = [match[1] for line in lines if (match := SLOTS.match(line.strip())) is not None]
    total = sum(map(int, slots))
    if known is not None and lines and len(slots) == len(lines) and total < processes:
        yield Problem(
            count[1],
            f"the hosts of {path[0]} have {total} slots together, and {command.program} is to start {processes} "
            "processes: it refuses",
            f"write {total}, or more slots behind the hosts",
            related=((known[1], "the hosts"),),
        )
