"""The API server, a CRD or the webhook of an operator refuses the object: its fields are right alone, and not together.

Nothing is created, with an error such as "spec.ports[0].name: Required value", "minAvailable and maxUnavailable cannot
be both set" or "admission webhook denied the request". KubeRay takes the object, and an event has the reason.

The rule holds the conditions of Kubernetes on Services, claims, quotas, limit ranges, network policies, disruption
budgets, autoscalers, priority classes, servers and jobs, and those of Kueue, JobSet, Kubeflow Trainer,
LeaderWorkerSet, Volcano, KubeRay and Karpenter with its EC2NodeClass, of KEDA's triggers, of stores of the External
Secrets operator, of releases of Flux, and of eksctl. The Prometheus operator skips a monitor that it refuses, and a
kubelet or a scheduler does not start with such a configuration, also one in a ConfigMap. The rule leaves out patches,
and values that are filled in later.

Write what the message says.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.admission.constraints import DNS_1123, LABEL, is_known, refused
from trainyard.analysis.admission.tables import rows_of
from trainyard.engine.rule import Problem, rule
from trainyard.loaders.schemas.partial import is_assertion, is_named_patch, is_partial
from trainyard.model.run import Resource

_OF_KUSTOMIZE = "builtin"


@rule(
    code="SM014",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/apis: core, apps, batch, networking, policy, autoscaling and scheduling validation",
        "kubernetes-sigs/kueue v0.19.2 pkg/webhooks; x-kubernetes-validations of its CRDs",
        "kubernetes-sigs/jobset v0.12.0 and lws v0.9.0 pkg/webhooks; kubeflow/trainer v2.3.0 manifests/base/crds",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go",
        "ray-project/kuberay v1.6.2 ray-operator/controllers/ray/utils/validation.go",
        "kubernetes-sigs/karpenter v1.0.0 to v1.14.1 and aws/karpenter-provider-aws v1.9.2 pkg/apis/crds",
        "analysis/admission/clouds.py: eksctl, External Secrets, KEDA and Flux, each with its commit",
        "github.com/awslabs/eksdemo issue 249, github.com/aws/karpenter-provider-aws pull 8846",
        "prometheus-operator/prometheus-operator main pkg/apis/monitoring/v1 and pkg/prometheus/validation",
        "kubernetes v1.29.15 and v1.37.2 pkg/kubelet/apis/config/validation and pkg/scheduler/apis/config/validation",
        "github.com/opensearch-project/opensearch-k8s-operator issue 1267",
    ),
)
def object_refused(resource: Resource) -> Iterator[Problem]:
    """Report objects that are not accepted."""
    yield from _outside(resource)
    rows = rows_of(resource.api_version, resource.kind)
    if not rows or is_named_patch(resource.at.document) or is_assertion(resource.at.document):
        return
    for fault in refused(rows, resource.tree, resource.at):
        if not fault.is_absence or not is_partial(resource.at.document):
            yield Problem(fault.at, f"{fault.message}: the {resource.kind} is refused", fault.help)


def _outside(resource: Resource) -> Iterator[Problem]:
    """Yields the namespace of an object of any kind, if no namespace can have this name.

    Transformers of kustomize have one that no cluster sees.
    """
    name = resource.namespace
    if resource.api_version == _OF_KUSTOMIZE:
        return
    if name and not DNS_1123.match(name) and is_known(name):
        yield Problem(
            resource.at.child("metadata", "namespace"),
            f"no namespace can have the name `{name}`: the {resource.kind} is refused",
            LABEL,
        )
