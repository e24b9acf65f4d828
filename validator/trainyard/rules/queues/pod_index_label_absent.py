"""The annotation names the label with the index of a pod in its group, and the pod has no such label.

Kueue reads the index of each pod of a group from the label that `kueue.x-k8s.io/pod-group-pod-index-label` names, for
placement by topology. For a label that the pod lacks, its webhook writes an empty index, which is no number: Kueue
builds no Workload for the group, and its pods stay gated. Later releases place such pods in any order.

The rule reads single pods, and leaves out labels that controllers add.

Write the name of the label that the pods have.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod

_ANNOTATION = "kueue.x-k8s.io/pod-group-pod-index-label"
# Domains of labels that controllers add to pods.
_ADDED = ("batch.kubernetes.io", "apps.kubernetes.io", "leaderworkerset.sigs.k8s.io", "jobset.sigs.k8s.io")


@rule(
    code="QU030",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/controller/jobs/pod: pod_webhook.go (Default), pod_controller.go",
        "github.com/kubernetes-sigs/kueue pull 15867",
    ),
    needs=(_ANNOTATION,),
)
def pod_index_label_absent(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report labels that a pod of a group lacks."""
    label = pod.annotations.get(_ANNOTATION)
    if context.run is None or context.run.kind != "Pod" or not isinstance(label, str) or not label:
        return
    if label not in pod.labels and not label.startswith(_ADDED) and "{" not in label and "$" not in label:
        yield Problem(
            pod.template_at.child("metadata", "annotations", _ANNOTATION),
            f"the pod has no label `{label}`, from which Kueue reads its index: the group is not admitted",
            "write the name of a label of the pod, or add the label",
        )
