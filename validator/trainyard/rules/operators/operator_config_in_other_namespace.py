"""The configuration of the device plugin is in another namespace than the GPU operator, which does not find it.

A ClusterPolicy has no namespace. The operator mounts the ConfigMaps that it names from its own namespace: the pods of
the device plugin stay in `ContainerCreating` with the event `FailedMount`.

The rule applies if the files create the namespace `gpu-operator`, in which the operator is installed by default, and
define the ConfigMap in other namespaces only.

Create the ConfigMap in the namespace of the operator.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import is_known, only_elsewhere
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

OPERATOR = "gpu-operator"
FIELDS = (
    ("devicePlugin", "config", "name"),
    ("migManager", "config", "name"),
    ("dcgmExporter", "config", "name"),
    ("driver", "kernelModuleConfig", "name"),
)


@rule(
    code="GO021",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go: the ConfigMap is a volume",
        "github.com/NVIDIA/gpu-operator issue 412",
    ),
    needs=("ClusterPolicy",),
)
def operator_config_in_other_namespace(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report ConfigMaps outside of the operator's namespace."""
    if resource.kind != "ClusterPolicy" or not resource.api_version.startswith("nvidia.com/"):
        return
    for field, *path in FIELDS if is_known(context.project, "Namespace", OPERATOR) else ():
        at = resource.at.child("spec", field, *path)
        name = text(resource.tree, "spec", field, *path)
        found = only_elsewhere(context.project, "ConfigMap", name, OPERATOR, at) if name else []
        if found:
            yield Problem(
                at,
                f"ConfigMap `{name}` is in namespace `{found[0].namespace}`, but the operator mounts it from its own",
                f"create it in namespace `{OPERATOR}`",
                related=((found[0].at.child("metadata", "namespace"), "the namespace of the ConfigMap"),),
            )
