"""The program of a RayJob asks for more GPUs than its cluster has, so it stops or waits for ever.

verl, EasyR1 and NeMo RL are told the number of nodes and the GPUs of each node, and reserve them in Ray. verl stops
with "Total available GPUs is less than total desired GPUs". NeMo RL waits for its placement groups. Each node is a pod
of the cluster: nodes with 8 GPUs do not fit into pods with 4.

The rule compares the numbers in the entrypoint with the head and the groups of workers of the same RayJob. With the
autoscaler, it counts the most pods of each group.

Write the numbers of the cluster, or raise the replicas.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import Cluster, Group, cluster_of
from trainyard.analysis.pods.framework_settings import UnknownValueError, entrypoint_settings
from trainyard.document.lookup import decimal, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import gpus
from trainyard.facts.programs.refused_settings import EASY_R1, NEMO_RL, VERL
from trainyard.model.run import Resource

# The nodes, and the GPUs of each.
_NAMES = {
    VERL.name: ("trainer.nnodes", "trainer.n_gpus_per_node"),
    EASY_R1.name: ("trainer.nnodes", "trainer.n_gpus_per_node"),
    NEMO_RL.name: ("cluster.num_nodes", "cluster.gpus_per_node"),
}


@rule(
    code="RY040",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "volcengine/verl v0.7.0 verl/single_controller/ray/base.py: _check_resource_available",
        "NVIDIA-NeMo/RL v0.5.0 nemo_rl/distributed/virtual_cluster.py: RayVirtualCluster, one bundle for each GPU",
        "github.com/verl-project/verl issue 2515, github.com/NVIDIA-NeMo/RL pull 2517",
    ),
    needs=("entrypoint",),
)
def run_beyond_ray_gpus(resource: Resource) -> Iterator[Problem]:
    """Report entrypoints that ask for more GPUs than their cluster has."""
    cluster = cluster_of(resource)
    owned = _owned(cluster) if cluster is not None and resource.kind == "RayJob" else None
    if owned is None:
        return
    for settings in entrypoint_settings(resource):
        names = _NAMES.get(settings.program.name)
        if names is None or not any(name in settings.told for name in names):
            continue
        try:
            nodes, each = int(settings.number(names[0])), int(settings.number(names[1]))
        except UnknownValueError:
            continue
        fitting = sum(count for count, one in owned if one >= each)
        total = sum(count * one for count, one in owned)
        if fitting < nodes:
            has = f"{fitting} pods with {each}" if total >= nodes * each else f"{total}"
            yield Problem(
                settings.last,
                f"{settings.program.name} asks for {nodes} nodes with {each} GPUs, {nodes * each} in all, and the "
                f"cluster has {has}: it never gets them",
                f"write the numbers of the cluster for `{names[0]}` and `{names[1]}`, or raise the replicas",
            )


def _owned(cluster: Cluster) -> list[tuple[int, int]] | None:
    """Returns the pods of each group and the GPUs of each pod; None if a number is not in the files."""
    found = [_of_group(group, cluster.is_autoscaled) for group in cluster.groups]
    known = [one for one in found if one is not None]
    return known if len(known) == len(found) and any(one for _, one in known) else None


def _of_group(group: Group, is_autoscaled: bool) -> tuple[int, int] | None:
    resources = mapping(group.container, "resources")
    limits, requests = mapping(resources, "limits"), mapping(resources, "requests")
    told = decimal(str(mapping(group.tree, "rayStartParams").get("num-gpus", "")))
    quantities = [str(value) for known in (limits, requests) for name, value in known.items() if "/" in str(name)]
    if any(decimal(quantity) is None for quantity in quantities) or "resourceClaims" in group.pod:
        return None
    if group.is_head:
        return 1, gpus(limits, requests) if told is None else told
    names = ("replicas", "maxReplicas") if is_autoscaled else ("replicas",)
    counts = [decimal(str(group.tree[name])) for name in names if name in group.tree]
    hosts = decimal(str(group.tree.get("numOfHosts", 1)))
    if not counts or None in counts or hosts is None:
        return None
    return max(count or 0 for count in counts) * hosts, gpus(limits, requests) if told is None else told
