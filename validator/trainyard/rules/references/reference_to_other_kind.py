"""A reference names an object that the files define as another kind: nothing finds it.

The name is right, and the kind is not: a `secretKeyRef` with the name of a ConfigMap, a ClusterRole that is a Role, a
TrainJob whose `runtimeRef` leaves out `kind: TrainingRuntime`, an autoscaler of a Deployment that is a StatefulSet,
`resourceClaimTemplateName` with the name of a ResourceClaim, or `claimName` with the name of a PersistentVolume. The
pod does not start, the binding grants nothing, and the job is refused.

The rule applies if no file defines an object of this kind and name, one of the other kind is in the same folder, and
nothing refers to that by its kind. It leaves out Secrets and ConfigMaps that an object of an operator names, because
a controller may create them.

Write the kind of the object, or the field for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.created_by_hand import is_created_by_hand
from trainyard.analysis.objects.folders import SAME_FOLDER, distance
from trainyard.analysis.objects.known_objects import everywhere, is_known
from trainyard.analysis.objects.makers import is_named_by_operator
from trainyard.analysis.objects.object_references import object_references
from trainyard.analysis.objects.references import Reference, references
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.training_runtimes import SHIPPED
from trainyard.facts.kubernetes.rbac import USER_ROLES
from trainyard.model.run import Project, Run

_PAIRS = (
    ("ConfigMap", "Secret"),
    ("Role", "ClusterRole"),
    ("TrainingRuntime", "ClusterTrainingRuntime"),
    ("ServingRuntime", "ClusterServingRuntime"),
    ("Issuer", "ClusterIssuer"),
    ("SecretStore", "ClusterSecretStore"),
    ("ResourceClaim", "ResourceClaimTemplate"),
    ("Deployment", "StatefulSet"),
    ("TriggerAuthentication", "ClusterTriggerAuthentication"),
    ("WorkflowTemplate", "ClusterWorkflowTemplate"),
    ("PersistentVolumeClaim", "PersistentVolume"),
)
# A claim that names the volume does not make the pod find it.
_NEVER = ("PersistentVolume",)
# A claim often has the name of its volume, which is elsewhere.
_OTHER = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1]) if one not in _NEVER}
_CLAIMS = (("resourceClaimName", "ResourceClaim"), ("resourceClaimTemplateName", "ResourceClaimTemplate"))
# A reference of this kind falls back to the other one.
_EITHER = ("InferenceService spec.predictor.model.runtime",)
_MADE = ("Secret", "ConfigMap")


@rule(
    code="RF047",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/configuration/secret and /docs/reference/access-authn-authz/rbac: roleRef",
        "kubeflow/trainer v2.3.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: kind defaults to ClusterTrainingRuntime",
        "kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation: claims and their templates",
        "github.com/kubernetes/website pull 53669",
    ),
    needs=tuple(_OTHER),
)
def reference_to_other_kind(project: Project) -> Iterator[Problem]:
    """Report references to an object of another kind than the defined one."""
    found = [one for run in project.runs for one in (*references(run), *_claims(run))]
    found += [Reference(one.kind, one.name, one.at) for one in object_references(project) if one.field not in _EITHER]
    used = {(one.kind, one.name) for one in found}
    done: set[tuple[str, str]] = set()
    for one in found:
        kind = _OTHER.get(one.kind)
        if kind is None or one.optional or (one.kind, one.name) in done or one.name in (*SHIPPED, *USER_ROLES):
            continue
        if ((kind, one.name) in used and kind not in _NEVER) or is_known(project, one.kind, one.name):
            continue
        if one.kind in _MADE and is_named_by_operator(project, one.name):
            continue
        if is_created_by_hand(one.at, one.name):
            continue
        known = everywhere(project, kind, one.name)
        if len(known) != 1 or distance(known[0].at, one.at) > SAME_FOLDER:
            continue
        done.add((one.kind, one.name))
        yield Problem(
            one.at,
            f"no file defines the {one.kind} `{one.name}`: it is a {kind}, which this reference does not find",
            f"refer to the {kind}, or define a {one.kind}",
            related=((known[0].at.child("kind"), f"the {kind}"),),
        )


def _claims(run: Run) -> Iterator[Reference]:
    for role in run.roles:
        for index, claim in enumerate(items(role.pod.tree, "resourceClaims")):
            for field, kind in _CLAIMS:
                if name := text(claim, field):
                    yield Reference(kind, name, role.pod.at.child("resourceClaims", index, field))
