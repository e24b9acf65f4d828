"""The setting that keeps the Istio sidecar out is on the job, so its pods get the sidecar.

Istio's webhook sees pods. It reads `sidecar.istio.io/inject` from the labels and annotations of the pod, and
controllers do not copy those of the job. In a namespace with injection, every pod starts with a proxy: it captures the
traffic of the rendezvous. Unless it is a native sidecar, it goes on after the training, and the job does not complete.

The rule ignores jobs in which a pod template has the setting too.

Move it to the labels of the pod template.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Workload

NAME = "sidecar.istio.io/inject"


@rule(
    code="TP014",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "istio/istio pkg/kube/inject/inject.go: injectRequired reads the labels and annotations of the pod",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/pod.go: pods are made from the template",
    ),
    needs=(NAME,),
)
def sidecar_annotation_outside_template(run: Workload) -> Iterator[Problem]:
    """`sidecar.istio.io/inject: "false"` outside of the pod template."""
    if run.kind in (*RUNTIMES, "TrainJob") or not has_all_pods(run) or not run.roles:
        return
    for field, found in (("annotations", run.annotations), ("labels", run.labels)):
        if str(found.get(NAME)).lower() != "false":
            continue
        if any(NAME in role.pod.annotations or NAME in role.pod.labels for role in run.roles):
            return
        yield Problem(
            run.at.child("metadata", field, NAME),
            f"Istio reads `{NAME}` from pods, and {run.kind} does not copy it to them, so they get the sidecar",
            "move it to the labels of the pod template",
        )
        return
