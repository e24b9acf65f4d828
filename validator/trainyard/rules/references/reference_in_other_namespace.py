"""A pod refers to an object that these files define in another namespace only, so the pod does not start.

A pod refers to ConfigMaps, Secrets, claims and service accounts by their name alone, in its own namespace; a job
refers to a Kueue LocalQueue in the same way. An object of another namespace is not found: the pod stays in
`ContainerCreating` with the event `FailedMount`, in `CreateContainerConfigError`, or is not created at all
(`serviceaccount "..." not found`); the job of a missing queue stays suspended.

The rule applies if both namespaces are written in the files. It ignores optional references, files with a kustomization
that sets the namespace, and objects that a controller copies to other namespaces by an annotation.

Move the job or the object, so that both are in one namespace, or create a copy of the object in the namespace of the
job.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import only_elsewhere, stands_alone
from trainyard.analysis.objects.references import NAMESPACED, references
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Workload


@rule(
    code="RF001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34 pkg/apis/core/types.go: LocalObjectReference, PersistentVolumeClaimVolumeSource",
        "kubernetes.io/docs/concepts/configuration/configmap: the Pod and the ConfigMap must be in the same namespace",
        "kueue.sigs.k8s.io/docs/concepts/local_queue: a LocalQueue is a namespaced object",
    ),
    needs=("ConfigMap", "Secret", "PersistentVolumeClaim", "serviceAccount", "LocalQueue", "TrainingRuntime"),
)
def reference_in_other_namespace(run: Workload, context: Context) -> Iterator[Problem]:
    """References whose object is in another namespace."""
    if not run.namespace or stands_alone(context.project):
        return
    done: set[tuple[str, str]] = set()
    for one in references(run):
        if one.kind not in NAMESPACED or one.optional or (one.kind, one.name) in done:
            continue
        done.add((one.kind, one.name))
        found = only_elsewhere(context.project, one.kind, one.name, run.namespace, one.at)
        if found:
            yield Problem(
                one.at,
                f"{one.kind} `{one.name}` is in namespace `{found[0].namespace}`, but {run.kind} {run.name} is in "
                f"`{run.namespace}`, where no file defines it",
                f"put both in one namespace: a pod cannot use a {one.kind} of another one",
                related=((found[0].at.child("metadata", "namespace"), f"the namespace of the {one.kind}"),),
            )
