"""The rendezvous endpoint is `localhost`, so every pod waits for the others in itself.

`--rdzv-endpoint` and `--master-addr` name the one address where all nodes of a run meet. `localhost` or 127.0.0.1 is a
different address in each pod. The first pod waits for others that never join; the others wait too, or fail to connect,
until the timeout of ten minutes. Such an address comes from scripts written for one machine, often as a default that
the manifest should override.

The rule ignores a role with one pod that hosts the rendezvous for the others, and pods that are each told one node.

Name the first pod: `<job>-master-0` or `<job>-worker-0` in a PyTorchJob, `<job>-0.<subdomain>` in an indexed Job. With
a Master, remove both options: the operator sets the address.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.torchrun import LOCAL, node_range, torchrun_commands
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Role


@rule(
    code="TD011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("pytorch 2.15.0 torch/distributed/run.py: --rdzv-endpoint, --master-addr, get_rdzv_endpoint",),
)
def torchrun_endpoint_localhost(role: Role, context: Context) -> Iterator[Problem]:
    """A rendezvous endpoint that is a different address in each pod."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains or (role.replicas or 0) < 2:
        return
    for launch in torchrun_commands(container):
        expected = node_range(launch, container, run)
        found = _local(launch)
        if found is None or expected is None or expected[1] < 2 or launch.has("--standalone"):
            continue
        option, value, at = found
        yield Problem(
            at,
            f"{option}={value} is a different address in each of the {role.replicas} pods: they never meet",
            "name the first pod of the job",
        )


def _local(launch: Command) -> tuple[str, str, Place] | None:
    endpoint = launch.option_at("--rdzv-endpoint")
    if endpoint is not None:
        host = endpoint[0] if endpoint[0] in LOCAL else endpoint[0].rpartition(":")[0]
        return ("--rdzv-endpoint", *endpoint) if host in LOCAL else None
    address = launch.option_at("--master-addr")
    if address is None or launch.option("--rdzv-backend") not in (None, "static") or address[0] not in LOCAL:
        return None
    return ("--master-addr", *address)
