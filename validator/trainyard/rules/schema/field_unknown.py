"""The kind has no field of this name at this place, so the API server never sees the setting.

A misspelt field, or a right one at the wrong depth, is not an error everywhere. `kubectl apply` and `kubectl create`
refuse the object with "unknown field". Helm, most controllers and older clients send it all the same: the API server
answers with a warning at most, and drops the field. The job then runs with the default instead: one replica for
`replica: 4`, no limits for `resource:`, the default runtime for a `runtimeClassName` beside `replicas`.

The fields are those of the API version that the object names: Kubernetes up to 1.37, the last release of the training
operator, and current releases of other operators: those that Trainyard is tested with, and Ray, Volcano, KServe, KEDA,
Karpenter, Argo Workflows, LeaderWorkerSet and AppWrapper. For these other operators, this rule reports only a field
that resembles a known one, that belongs elsewhere in the object, or that holds a spec of a pod whose fields stand one
level above it, as `podSpec` in a predictor of KServe. The rule `field-of-another-release` reports the
rest. Pods in objects of unknown kinds are checked in the same way.

The part of a pod that SkyPilot takes, `pod_config` in a task or in its configuration, is checked like a pod.

The configurations of the kubelet, the scheduler and kubeadm are checked, too, in files of their own and in ConfigMaps.
A scheduler with an unknown field does not start, and a kubelet ignores the field.

A place that a more specific rule reports is not reported again, and neither is a file with the name of a patch that no
kustomization names, nor the `source` of a claim in a file for Kubernetes before 1.31, which had it.

Correct the name, or move the field to the place that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.old_releases import lies_in_old_release
from trainyard.document.document import Place, Rename
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.schemas.partial import is_built_by_kustomize, is_named_patch, is_unused_patch
from trainyard.model.run import Misfit

# Source: kubernetes v1.30.0 and v1.31.0 staging/src/k8s.io/api/core/v1/types.go: PodResourceClaim.
_CLAIM = ("resourceClaims", "source")


@rule(
    code="SM001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 api/openapi-spec/swagger.json; k8s.io/api v0.37.1: fields of newer releases",
        "kubernetes v1.29.15 and v1.37.2: k8s.io/kubelet, k8s.io/kube-scheduler and cmd/kubeadm/app/apis",
        "schemas/crds: the CRDs of the operators, each with the module that it was generated from",
        "tests/harness/cluster/tools/operators/go.mod: the modules with the CRDs of further operators",
        "github.com/argoproj/argo-workflows issue 2204, github.com/kserve/kserve issue 3859",
        "kubernetes.io API concepts: field validation with Strict, Warn and Ignore",
    ),
    fix="unsafe",
)
def field_unknown(misfit: Misfit, context: Context) -> Iterator[Problem]:
    """Report a field that the type does not have."""
    if (
        misfit.fault == "unknown field"
        and not is_unused_patch(misfit.at.document.source.name)
        and not _is_void(misfit.at)
        and not (misfit.at.path[-3::2] == _CLAIM and lies_in_old_release(misfit.at, context.project))
    ):
        edits = (Rename(misfit.at, misfit.name),) if misfit.name is not None else ()
        yield Problem(misfit.at, misfit.message, misfit.help, edits)


def _is_void(at: Place) -> bool:
    """True for a field without a value in a patch, which kustomize merges into nothing."""
    value: Any = at.document.tree
    for step in at.path:
        value = value[step]
    return value is None and is_named_patch(at.document) and is_built_by_kustomize(at.document)
