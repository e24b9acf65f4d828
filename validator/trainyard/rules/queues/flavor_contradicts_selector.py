"""The node selector of a pod contradicts the labels of every flavor of its queue, so Kueue never admits the job.

Kueue assigns a flavor only if the pod's node selector agrees with the flavor's `nodeLabels`. If no flavor agrees, the
job stays suspended, and its Workload says `flavor ... doesn't match node affinity`.

The rule follows the label `kueue.x-k8s.io/queue-name` to the ClusterQueue, and applies if all ResourceFlavors of the
group are in the files.

Write a label value that one of the flavors has, or leave the selector out: Kueue adds that of the flavor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.jobs.queues import Group, flavor_labels, queue_of
from trainyard.analysis.resources.requests import of_pod
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Role


@rule(
    code="QU012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner: flavorSelector, doesn't match node affinity",
    ),
    needs=("ResourceFlavor",),
)
def flavor_contradicts_selector(role: Role, context: Context) -> Iterator[Problem]:
    """Node selectors that no flavor of the queue has."""
    run, selector = context.run, mapping(role.pod.tree, "nodeSelector")
    queue = queue_of(run, context.project) if run is not None and selector and QUEUE in run.labels else None
    if queue is None:
        return
    asked = of_pod(role.pod)
    for group in (group for group in queue.groups if not group.resources.isdisjoint(asked)):
        labels = _labels(group, context)
        for name, value in selector.items():
            known = sorted({str(one[name]) for one in labels if name in one})
            if known and str(value) not in known:
                yield Problem(
                    role.pod.at.child("nodeSelector", name),
                    f"no flavor of ClusterQueue `{queue.name}` has `{name}: {value}`: Kueue never admits the job",
                    f"the flavors have {format_list(known)}",
                    related=((group.flavors[0].at, "the flavors"),),
                )


def _labels(group: Group, context: Context) -> list[dict[str, Any]]:
    """The node labels of all flavors; none if one of them is not in the files."""
    found = [flavor_labels(flavor, context.project) for flavor in group.flavors]
    return [labels for labels in found if labels is not None] if None not in found else []
