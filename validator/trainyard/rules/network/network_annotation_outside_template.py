"""The networks annotation is on the workload instead of its pod template, so its pods get no additional network.

Multus reads `k8s.v1.cni.cncf.io/networks` from the pod. Controllers create pods from `template.metadata` and do not
copy the annotations of the workload itself. The pods start with `eth0` alone and no event gives the reason; NCCL then
fails to find `net1`, or runs over the slow network.

The rule ignores workloads whose template has the annotation too, and kinds whose controllers may copy annotations.

Move the annotation to the metadata of the pod template.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network.multus import ANNOTATION
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# Kinds whose controllers take the metadata of pods from the template alone.
KINDS = {
    "apps": ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"),
    "batch": ("Job", "CronJob"),
    "kubeflow.org": ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "JAXJob"),
    "jobset.x-k8s.io": ("JobSet",),
}


@rule(
    code="NT025",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: GetPodNetwork reads pod.Annotations",
        "github.com/k8snetworkplumbingwg/multus-cni issues 348 and 444",
        "kubernetes/api core/v1 types.go: PodTemplateSpec.ObjectMeta",
    ),
    needs=("k8s.v1.cni.cncf.io",),
)
def network_annotation_outside_template(resource: Resource) -> Iterator[Problem]:
    """An annotation that no pod gets."""
    if resource.kind not in KINDS.get(resource.api_version.partition("/")[0], ()):
        return
    if ANNOTATION in mapping(resource.tree, "metadata", "annotations") and not _in_template(resource.tree.get("spec")):
        yield Problem(
            resource.at.child("metadata", "annotations", ANNOTATION),
            f"the pods of this {resource.kind} do not get its annotation `{ANNOTATION}`",
            "move it to the metadata of the pod template",
        )


def _in_template(tree: Any) -> bool:
    """True if anything below has the annotation in its metadata."""
    if isinstance(tree, dict):
        if ANNOTATION in mapping(tree, "metadata", "annotations"):
            return True
        return any(map(_in_template, tree.values()))
    return isinstance(tree, list) and any(map(_in_template, tree))
