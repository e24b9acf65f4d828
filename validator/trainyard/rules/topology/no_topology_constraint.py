"""The job has no placement constraint, so its traffic may cross the slowest links of the fabric.

Without an affinity, a topology annotation or a node selector, the scheduler puts each worker on any node with a free
GPU. In a fabric of racks and blocks two workers then communicate over the spine, or over the cluster's Ethernet,
although a rack had room for the whole job. An all-reduce is as fast as its slowest link, and the run time differs from
start to start.

State how close the pods must be: with Kueue's `podset-required-topology` or `podset-preferred-topology`, a
`podAffinity` over the rack's label, JobSet's exclusive topology, or Volcano's `networkTopology`. On a cluster of a
single rack turn the rule off. The parameter `nodes` is the number of pods from which the rule reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.jobs.kueue import SLICES, TOPOLOGY_REQUESTS
from trainyard.model.run import Role, Run
from trainyard.startup import NamedTuple


class Parameters(NamedTuple):
    """`nodes`: the number of training pods from which a job needs a placement constraint."""

    nodes: int = 4


@rule(
    code="TP010",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kueue.sigs.k8s.io/docs/concepts/topology_aware_scheduling",
        "kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node: inter-pod affinity",
    ),
    parameters=Parameters(),
)
def no_topology_constraint(run: Run, context: Context) -> Iterator[Problem]:
    """Jobs of many pods without a placement constraint."""
    if run.kind in RUNTIMES or not has_all_pods(run) or (run.nodes or 0) < context.parameters.nodes:
        return
    roles = [role for role in run.training_roles if wants_gpu(role.pod)]
    if not roles or any(_placed(role) for role in run.roles) or _placed_by_job(run):
        return
    yield Problem(
        run.at.child("metadata", "name"),
        f"the {run.nodes} pods of {run.kind} {run.name} have no placement constraint and may be far apart",
        "add a topology annotation or a pod affinity over the rack",
    )


def _placed(role: Role) -> bool:
    fields = ("affinity", "nodeSelector", "topologySpreadConstraints", "nodeName", "resourceClaims")
    requests = (*TOPOLOGY_REQUESTS, *SLICES)
    return any(role.pod.tree.get(name) for name in fields) or any(name in role.pod.annotations for name in requests)


def _placed_by_job(run: Run) -> bool:
    template = mapping(run.runtime, "template", "metadata", "annotations")
    if any("topology" in str(name) for name in (*run.annotations, *run.labels, *template)):
        return True
    return bool(mapping(run.spec, "networkTopology") or mapping(run.runtime, "podGroupPolicy", "volcano"))
