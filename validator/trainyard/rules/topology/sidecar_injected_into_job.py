"""Istio injects its sidecar into the pods of the training job.

The namespace has the label `istio-injection: enabled`, or the pod itself `sidecar.istio.io/inject: "true"`, so each pod
starts with a proxy. It captures the traffic of the
rendezvous and of ssh, sets `fsGroup`, with which ssh refuses its key, and unless it is a native sidecar, it goes on
after the training, so that the job does not complete.

The rule applies to jobs of several pods in a namespace of the files, and to a TrainJob with its runtime. Istio starts
native sidecars by default since 1.27. With an older release, a Job of one pod does not complete either: the rule
reports it if the image of Istio's control plane in the files has such a version.

Put the label `sidecar.istio.io/inject: "false"` on the pod templates.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.controllers import version_of
from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.jobs.workloads import is_batch_job
from trainyard.analysis.objects.known_objects import everywhere
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS, RUNTIMES
from trainyard.facts.versions import before
from trainyard.model.run import Project, Role

LABEL = "istio-injection"
NAME = "sidecar.istio.io/inject"
# Annotations that leave traffic out of the proxy begin so.
TRAFFIC = "traffic.sidecar.istio.io/"
# The first release with native sidecars by default.
NATIVE = (1, 27)


@rule(
    code="TP016",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "istio/istio pkg/kube/inject/inject.go: injectRequired",
        "github.com/kubeflow/mpi-operator issue 429, github.com/istio/istio issue 11045",
        "github.com/NVIDIA/nccl issue 1638",
        "github.com/kubeflow/trainer issue 2794",
    ),
    needs=("istio-injection", NAME),
)
def sidecar_injected_into_job(role: Role, context: Context) -> Iterator[Problem]:
    """Pods that get the sidecar of their namespace."""
    run = context.run
    if run is None or run.kind in RUNTIMES or not has_all_pods(run):
        return
    if not is_batch_job(run) and run.kind not in (*REPLICA_FIELDS, "JobSet", "TrainJob"):
        return
    # A TrainJob may add labels to the pods of its runtime.
    if run.kind == "TrainJob" and NAME in str(run.spec):
        return
    # TP014 reports a setting in the wrong place.
    settings = (role.pod.labels, role.pod.annotations, run.labels, run.annotations)
    if str(role.pod.labels.get(NAME)).lower() == "true" and not _ends_proxy(role):
        if role.trains and (run.nodes or 0) > 1 and not any(key.startswith(TRAFFIC) for key in role.pod.annotations):
            yield Problem(
                role.pod.template_at.child("metadata", "labels", NAME),
                f"Istio injects its sidecar into the pods of {role.name}, which train with others",
                f'write `{NAME}: "false"`',
            )
        return
    alone = len(run.roles) == 1 and (role.replicas or 1) < 2 and not (is_batch_job(run) and _stays(context.project))
    if any(NAME in one for one in settings) or alone or _ends_proxy(role):
        return
    for namespace in everywhere(context.project, "Namespace", run.namespace):
        if mapping(namespace.tree, "metadata", "labels").get(LABEL) == "enabled":
            yield Problem(
                role.pod.template_at.key(),
                f"Istio injects its sidecar into the pods of {role.name}: namespace `{namespace.name}` has injection",
                f'put the label `{NAME}: "false"` on the pod template',
                related=((namespace.at.child("metadata", "labels", LABEL), "the label"),),
            )


def _stays(project: Project) -> bool:
    """True if the control plane in the files injects proxies that do not end with the other containers."""
    return before(version_of(project, "pilot"), NATIVE)


def _ends_proxy(role: Role) -> bool:
    """True if a script stops the proxy itself."""
    return any("quitquitquit" in script.text for one in role.pod.containers for script in one.scripts)
