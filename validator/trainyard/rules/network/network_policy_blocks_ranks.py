"""The NetworkPolicy lets the pods of the job reach each other on a few ports only, but the program uses random ones.

NCCL, Gloo and MPI listen on ports that the kernel chooses; only the rendezvous has a fixed one. Ray does so too, unless
`ray start` names its ports. The job starts, all pods join, and the first collective operation hangs until its timeout.

The rule applies if a policy in the files selects pods of a run with a launcher, and if the pods that it admits are
those of the run or of Ray workers, by their own labels or those of the controller. None of its rules may admit them
on all ports, or on a range of at least 10,000 ports.

Remove `ports` from the rule for the pods of the job.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.analysis.launchers.training_commands import starts_launcher
from trainyard.analysis.pods.placement import has_labels, labels_of
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod, Resource, Role, Run

POLICY = "NetworkPolicy"
# A range of so many ports holds those that the system chooses.
WIDE = 10_000


@rule(
    code="NT033",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/services-networking/network-policies: ports of a rule limit its peers",
        "NVIDIA/nccl v2.30.7-1 src/misc/socket.cc: ncclSocketListen takes a port of the system",
        "docs.ray.io/en/latest/ray-core/configure.html: ports configurations",
        "github.com/ray-project/ray pull 32831",
    ),
    needs=(POLICY,),
)
def network_policy_blocks_ranks(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report policies that admit the pods of a run on a few ports."""
    if resource.kind != POLICY or "Ingress" not in items(resource.tree, "spec", "policyTypes"):
        return
    # Another policy may admit them.
    if len(context.project.of_kind(POLICY)) > 1:
        return
    own = mapping(resource.tree, "spec", "podSelector", "matchLabels")
    runs = [run for run in context.project.runs if run.namespace == resource.namespace]
    selected = [(run, role) for run in runs for role in run.roles if own and has_labels(labels_of(role, run), own)]
    ranks = [(run, role) for run, role in selected if _talks(run, role.pod)]
    if not ranks:
        return
    blocked = []
    for index, entry in enumerate(items(resource.tree, "spec", "ingress")):
        if any(_admits(peer, ranks, runs) for peer in items(entry, "from")):
            if _is_wide(items(entry, "ports")):
                return
            blocked.append(index)
    if blocked:
        at = resource.at.child("spec", "ingress", blocked[0], "ports")
        run = ranks[0][0]
        message = f"pods of {run.kind} {run.name} reach each other on these ports only, but use random ones"
        yield Problem(at.key(), message, "remove `ports` from this rule")


def _talks(run: Run, pod: Pod) -> bool:
    """True if the pod exchanges data with other pods on ports that the system chooses."""
    if any(_is_ray_head(container) for container in pod.containers):
        return True
    starts = any(starts_launcher(command.words) for container in pod.containers for command in container.commands)
    return starts and (run.nodes or 1) > 1


def _is_ray_head(container: Container) -> bool:
    starts = [one for one in container.commands if one.words[:2] == ("ray", "start") and one.has("--head")]
    return any(not one.has("--node-manager-port", "--object-manager-port") for one in starts)


def _admits(peer: Any, ranks: Sequence[tuple[Run, Role]], runs: Sequence[Run]) -> bool:
    """True if a peer of a rule selects the pods of the run, or those that start a worker of Ray."""
    selector = mapping(peer, "podSelector", "matchLabels")
    if not selector or "namespaceSelector" in peer:
        return False
    if any(has_labels(labels_of(role, run), selector) for run, role in ranks):
        return True
    workers = [role for run in runs for role in run.roles if has_labels(labels_of(role, run), selector)]
    commands = [one for role in workers for container in role.pod.containers for one in container.commands]
    return any(one.words[:2] == ("ray", "start") for one in commands)


def _is_wide(ports: Sequence[Any]) -> bool:
    if not ports:
        return True
    for port in ports:
        first, last = integer(port, "port"), integer(port, "endPort")
        if "port" not in mapping(port) or (first is not None and last is not None and last - first >= WIDE):
            return True
    return False
