"""The pod requests TPUs and selects their type or their topology alone; GKE needs both.

A node pool of TPUs has one type and one topology, `cloud.google.com/gke-tpu-accelerator` and
`cloud.google.com/gke-tpu-topology`. GKE creates no pool for a pod that selects one of them, and the autoscaler of Ray
ends: "Pods using TPUs require both node selectors".

The rule leaves out pods that select a node pool by its name, pods whose slice an annotation or a queue chooses, and
pods that select neither label.

Select both labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import required_expressions
from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Pod

_TYPE, _TOPOLOGY = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
# Kueue and GKE choose the slices of pods with this annotation.
_SLICE = "cloud.google.com/gke-tpu-slice-topology"
_POOL = "cloud.google.com/gke-nodepool"
_TPU = "google.com/tpu"


@rule(
    code="TP025",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "cloud.google.com/kubernetes-engine/docs/how-to/tpus: node selectors of workloads with TPUs",
        "github.com/ray-project/ray pull 53914",
    ),
    needs=(_TYPE, _TOPOLOGY),
)
def tpu_selector_incomplete(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report pods with TPUs that select one of the two labels."""
    run = context.run
    if not any(container.quantity(_TPU) for container in pod.containers) or _SLICE in pod.annotations:
        return
    if run is not None and QUEUE in run.labels:
        return
    selector = mapping(pod.tree, "nodeSelector")
    places = {name: pod.at.child("nodeSelector", name) for name in selector}
    places.update({text(expression, "key"): at for expression, at in required_expressions(pod)})
    given = [name for name in (_TYPE, _TOPOLOGY) if name in places]
    if len(given) == 1 and _POOL not in places:
        missing = _TOPOLOGY if given[0] == _TYPE else _TYPE
        yield Problem(
            places[given[0]],
            f"the pod requests `{_TPU}` and does not select `{missing}`: GKE places it by both labels",
            f"add `{missing}` to the node selector",
        )
