"""An object refers to another one by its name, and the files define that in another namespace only.

An autoscaler, a route, an Ingress, a claim, a pool of endpoints and an Issuer find objects of their own namespace
alone, unless a field for the namespace stands beside the name. An autoscaler of a Deployment elsewhere never scales:
"deployments/scale.apps not found". An Ingress answers 503, and a webhook with the wrong namespace is not called.

The rule applies if both namespaces are written in the files. It leaves out files with a kustomization that sets the
namespace, objects that a controller copies, and names that an operator may use for what it creates.

Move one of the objects, or write the namespace where the field exists.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import only_elsewhere
from trainyard.analysis.objects.makers import may_be_made
from trainyard.analysis.objects.object_references import object_references
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

# Accounts of bindings are the subject of a rule of their own, and so are runtimes of TrainJobs.
_OTHERS = ("RoleBinding subjects.*.name", "ClusterRoleBinding subjects.*.name", "TrainJob spec.runtimeRef.name")


@rule(
    code="RF059",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.37.2 pkg/controller/podautoscaler/horizontal.go: scaleForResourceMappings in the own namespace",
        "kubernetes.io/docs/concepts/services-networking/ingress: the Service in the namespace of the Ingress",
        "gateway-api.sigs.k8s.io/reference/spec: the namespace of a reference defaults to that of the route",
        "github.com/pjt222/agent-almanac issue 838",
    ),
    needs=("Ref", "backend", "clientConfig", "APIService", "extension", "endpointPicker", "Snapshot", "dataSource"),
)
def object_reference_in_other_namespace(project: Project) -> Iterator[Problem]:
    """Report references whose object is in other namespaces."""
    for one in object_references(project):
        if not one.namespace or one.kind.startswith("Cluster") or one.field in _OTHERS:
            continue
        found = only_elsewhere(project, one.kind, one.name, one.namespace, one.at)
        if not found or may_be_made(project, one):
            continue
        yield Problem(
            one.at,
            f"{one.kind} `{one.name}` is in namespace `{found[0].namespace}`, and it is looked up in "
            f"`{one.namespace}`, where no file defines it",
            "put both in one namespace, or write the namespace beside the name if the field exists",
            related=((found[0].at.child("metadata", "namespace"), f"the namespace of the {one.kind}"),),
        )
