"""The rendezvous is at a Service with a virtual address, so no pod hosts its store, and all of them time out.

With the backend `c10d`, torchrun hosts the store in the process whose machine has the name or an address of
`--rdzv-endpoint`. A Service has an address of its own, which belongs to no pod, unless `clusterIP` is `None`. Each
torchrun then connects as a client, to a port at which nothing listens, and ends after 60 seconds with
"RendezvousConnectionError".

The rule applies if the files have the Service. It leaves out `--rdzv-conf=is_host=...`, and pods with the name of the
Service.

Write `clusterIP: None`, or name the first pod.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.launchers.rendezvous import backend
from trainyard.analysis.launchers.torchrun import node_range, torchrun_commands
from trainyard.analysis.objects.known_objects import fitting
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Role, Run


@rule(
    code="TD082",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "pytorch 2.15.0 torch/distributed/elastic/rendezvous/utils.py: _matches_machine_hostname; "
        "c10d_rendezvous_backend.py: _create_tcp_store, is_host",
        "github.com/pytorch/pytorch issue 73656",
    ),
    needs=("rdzv",),
)
def rendezvous_at_virtual_address(role: Role, context: Context) -> Iterator[Problem]:
    """Report a rendezvous at an address that no pod has."""
    container, run = role.container, context.run
    if container is None or run is None or not role.trains:
        return
    for launch in torchrun_commands(container):
        endpoint = launch.option_at("--rdzv-endpoint")
        told = backend(launch, container, run)
        nodes = node_range(launch, container, run)
        if (
            endpoint is None
            or told is None
            or told[0] != "c10d"
            or nodes is None
            or nodes[1] < 2
            or _tells_host(launch)
        ):
            continue
        name = endpoint[0].partition(":")[0].partition(".")[0]
        found = fitting(context.project, "Service", name, run.namespace, run.at) if name and "$" not in name else []
        if len(found) != 1 or _is_name_of_pod(name, role, run) or not _is_virtual(mapping(found[0].tree, "spec")):
            continue
        yield Problem(
            endpoint[1],
            f"the Service `{name}` has a virtual address, which no pod has: no torchrun hosts the store there",
            f"write `clusterIP: None` in the Service `{name}`, or name the first pod",
            related=((found[0].at.child("spec"), "the Service"),),
        )


def _tells_host(launch: Command) -> bool:
    return "is_host" in (launch.option("--rdzv-conf") or "")


def _is_virtual(spec: dict[str, object]) -> bool:
    return str(spec.get("clusterIP", "")) != "None" and text(spec, "type") != "ExternalName" and bool(spec)


def _is_name_of_pod(name: str, role: Role, run: Run) -> bool:
    """True if a pod of the run may have this host name."""
    if name in (run.name, role.pod.tree.get("hostname")):
        return True
    return bool(run.name) and re.fullmatch(rf"{re.escape(run.name)}(?:-[a-z0-9-]*)?-[0-9]+", name) is not None
