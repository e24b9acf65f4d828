"""The controller takes other restart policies than the pod template has: the API server refuses the object.

The pods of a Job or a CronJob end, so their template must say `Never` or `OnFailure`. A template without a policy has
the default `Always`, which a Job does not take: "spec.template.spec.restartPolicy: Required value" or "Unsupported
value". JobSet and the runtimes of Trainer make Jobs. They write `OnFailure` into a template without a policy, but take
`Always`, with which no Job can be created. The pods of a Deployment, ReplicaSet, StatefulSet or DaemonSet run forever,
and these take nothing but `Always`.

The rule ignores patches: files whose path has the word `patch` or `overlay`, and pods with a container without an
image.

Write `restartPolicy: Never` or `OnFailure` into the template of a Job. Remove the policy from the template of the
others, or make the object a Job if its program ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.patches import is_patch
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.schemas.partial import is_named_patch
from trainyard.model.run import Pod

_ENDING = frozenset(("Job", "CronJob"))
# Kinds whose pods belong to Jobs, by their API group.
_OF_JOBS = {
    "JobSet": "jobset.x-k8s.io/",
    "TrainingRuntime": "trainer.kubeflow.org/",
    "ClusterTrainingRuntime": "trainer.kubeflow.org/",
}
_RUNNING = frozenset(("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"))


@rule(
    code="WL009",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/batch/validation/validation.go: validateJobSpec, restartPolicy",
        "kubernetes v1.34.4 pkg/apis/apps/validation/validation.go: ValidatePodTemplateSpecForReplicaSet",
        "kubernetes-sigs/jobset v0.12.0 pkg/webhooks/jobset_webhook.go: Default writes OnFailure if there is no policy",
        "github.com/kubernetes/kubernetes issue 102562",
    ),
    needs=("batch/", "apps/", *_OF_JOBS.values()),
)
def restart_policy_refused(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report a restart policy that the controller does not take."""
    run = context.run
    if run is None:
        return
    policy = pod.tree.get("restartPolicy")
    if run.kind in _OF_JOBS and run.api_version.startswith(_OF_JOBS[run.kind]) and policy == "Always":
        message = f"the pods of a {run.kind} belong to a Job, which cannot have `Always`: there are no pods"
        yield Problem(pod.at.child("restartPolicy"), message, "write `restartPolicy: Never` or `OnFailure`")
    if not run.api_version.startswith(("batch/", "apps/")):
        return
    if run.kind in _ENDING:
        # Other words are no policies at all, which the schema check reports.
        if policy not in (None, "Always") or (policy is None and _is_incomplete(pod)):
            return
        told = "write `restartPolicy: Never` or `OnFailure`"
        default = "has no `restartPolicy`, and the default `Always` is refused"
        said = default if policy is None else f"cannot have `{policy}`"
        at = pod.at.key() if policy is None else pod.at.child("restartPolicy")
        yield Problem(at, f"the pod template of a {run.kind} {said}", told)
    elif run.kind in _RUNNING and policy in ("Never", "OnFailure"):
        message = f"a {run.kind} takes no restartPolicy but `Always`: the API server refuses `{policy}`"
        yield Problem(pod.at.child("restartPolicy"), message, "remove it, or make the object a Job")


def _is_incomplete(pod: Pod) -> bool:
    return not pod.containers or is_patch(pod) or is_named_patch(pod.at.document)
