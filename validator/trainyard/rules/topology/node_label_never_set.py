"""The pod wants a node with a label that no node has, so it stays Pending.

Labels that Kubernetes, a cloud or an operator sets have fixed names and, many of them, a few fixed values, with their
capitals. `karpenter.sh/capacity-type: SPOT` matches no node, and neither does `nvidia.com/gpu.present: "yes"`.

The rule knows labels of Kubernetes, HyperPod, EKS, GKE, Karpenter and NVIDIA's GPU operator. It reads `nodeSelector`,
the required node affinity and the `topologyKey` of affinities and spreads. A required anti-affinity with a key that no
node has keeps nothing apart. A cluster may set a label of such a name by hand: suppress the finding there.

Write the label as the message says.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import required_expressions, required_values
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.hardware.node_labels import NAMES, VALUES
from trainyard.model.run import Pod

_DURING = "DuringSchedulingIgnoredDuringExecution"


@rule(
    code="TP019",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/reference/labels-annotations-taints; docs.aws.amazon.com/sagemaker: HyperPod resilience",
        "github.com/aws/sagemaker-hyperpod-cli issue 382",
    ),
    needs=("nodeSelector", "topologyKey", "nodeAffinity"),
)
def node_label_never_set(pod: Pod) -> Iterator[Problem]:
    """Report labels and values that nothing sets."""
    for name, at in _names(pod):
        if name in NAMES:
            yield Problem(
                at, f"nothing sets the label `{name}` on nodes: the pod stays Pending", f"write `{NAMES[name]}`"
            )
    for key, at in _topology_keys(pod) if "affinity" in pod.tree or "topologySpreadConstraints" in pod.tree else ():
        if key in NAMES:
            message = f"no node has the label `{key}`, so the pods are not placed by it"
            yield Problem(at, message, f"write `{NAMES[key].partition(':')[0]}`")
    for name, known in VALUES.items():
        value = mapping(pod.tree, "nodeSelector").get(name)
        own = [(str(value), pod.at.child("nodeSelector", name))] if isinstance(value, str) else []
        for written, at in (*own, *required_values(pod, (name,))):
            if written not in known and "{" not in written and "$" not in written:
                have = format_list(f"`{one}`" for one in known)
                yield Problem(at, f"`{name}` is never `{written}` on a node: the pod stays Pending", f"write {have}")


def _names(pod: Pod) -> Iterator[tuple[str, Place]]:
    for name in mapping(pod.tree, "nodeSelector"):
        yield str(name), pod.at.child("nodeSelector", name).key()
    for one, at in required_expressions(pod):
        if text(one, "operator") in ("In", "Exists", "Gt", "Lt"):
            yield text(one, "key"), at.child("key")


def _topology_keys(pod: Pod) -> Iterator[tuple[str, Place]]:
    for index, one in enumerate(items(pod.tree, "topologySpreadConstraints")):
        yield text(one, "topologyKey"), pod.at.child("topologySpreadConstraints", index, "topologyKey")
    for kind in ("podAffinity", "podAntiAffinity"):
        for field, inner in ((f"required{_DURING}", ()), (f"preferred{_DURING}", ("podAffinityTerm",))):
            for index, one in enumerate(items(pod.tree, "affinity", kind, field)):
                at = pod.at.child("affinity", kind, field, index, *inner, "topologyKey")
                yield text(one, *inner, "topologyKey"), at
