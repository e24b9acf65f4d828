"""Open MPI gets hosts without slots and more processes than hosts, so it refuses to start.

Each mention of a host in `-H` or `--host` is one slot. With `-np 16` and two hosts, mpirun ends with "There are not
enough slots available in the system". `host:8` gives a host eight slots.

The rule knows Open MPI by its own options, such as `--allow-run-as-root` or `--mca`. It leaves out commands that
oversubscribe.

Write the slots behind each host: `-H node-0:8,node-1:8`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.facts.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command

HOSTS = ("-H", "-host", "--host")
COUNTS = ("-np", "--np", "-n", "--n", "-c")
OWN = frozenset(("--allow-run-as-root", "-allow-run-as-root", "--mca", "-mca", "--bind-to", "--map-by", "--tag-output"))


@rule(
    code="SC018",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.open-mpi.org/en/v5.0.x/launching-apps/scheduling.html: slots, --host",
        "github.com/dstackai/dstack pull 2451; github.com/open-mpi/ompi issue 3133",
    ),
    needs=("mpi", "prte"),
)
def mpirun_hosts_without_slots(command: Command) -> Iterator[Problem]:
    """Report fewer slots of hosts than processes."""
    if command.program not in MPI_LAUNCHERS or not command.given(OWN):
        return
    hosts, count = command.option_at(*HOSTS), command.option(*COUNTS)
    processes = decimal(count) if count is not None else None
    if hosts is None or processes is None or "$" in hosts[0] or "{" in hosts[0]:
        return
    if any("oversubscribe" in word.lower() for word in command.words):
        return
    parts = [one.partition(":") for one in hosts[0].split(",") if one]
    slots = [1 if not colon else decimal(number) for _, colon, number in parts]
    total = sum(one for one in slots if one is not None)
    if None not in slots and total < processes:
        each = -(-processes // len(parts))
        fixed = ",".join(f"{name}:{each}" for name, _, _ in parts)
        yield Problem(
            hosts[1],
            f"these hosts have {total} slots together, and mpirun is to start {processes} processes: it refuses",
            f"write the slots behind each host: `{fixed}`",
        )
