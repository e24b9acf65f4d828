"""`NCCL_SOCKET_IFNAME` excludes interfaces but not `lo`, so NCCL offers the loopback address to other pods.

Without the variable, NCCL avoids `lo` as long as there is another interface. A list replaces this rule: after
`^docker0`, all interfaces but `docker0` are candidates, and `lo` is the first one that the kernel lists. Each pod gives
127.0.0.1 to its peers. Runs on one node work, and runs on several hang in their first collective, or fail with
"connection refused".

Add `lo` to the list, or remove the variable: NCCL leaves out `docker0` and `lo` by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.settings import change_value, literal_value
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.nccl import lists
from trainyard.model.run import Setting


@rule(
    code="NC038",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclFindInterfaces; src/os/linux.cc: ncclOsFindInterfaces",
        "github.com/horovod/horovod pull request 700: sjeaugey on ^docker0; kubeflow/mpi-operator issue 57",
    ),
    fix="safe",
    needs=("_IFNAME",),
)
def nccl_ifname_keeps_loopback(setting: Setting, context: Context) -> Iterator[Problem]:
    """An exclude list that leaves the loopback."""
    run = context.run
    value = literal_value(setting) if setting.name == lists.INTERFACES else None
    if value is None or run is None or (run.nodes or 1) < 2:
        return
    listed = lists.parse_list(value)
    if (
        listed.excludes
        and listed.names
        and not listed.names_it("lo")
        and not any("lo" in name for name in listed.names)
    ):
        fixed = f"{value},lo"
        yield Problem(
            setting.at,
            f"`{value}` does not exclude lo: NCCL may offer 127.0.0.1 to other pods",
            f'write "{fixed}", or remove the variable',
            change_value(setting, fixed),
        )
