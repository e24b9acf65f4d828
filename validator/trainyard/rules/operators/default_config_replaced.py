"""The ConfigMap has the name of a default of the GPU operator, which writes its own content into it.

The operator creates `default-mig-parted-config` and `default-gpu-clients` in its namespace, and writes them again each
time that it looks at its policy. Layouts that somebody adds disappear, and the node reports `mig.config.state: failed`
for a layout that no longer exists. The operator leaves a default out if its policy names another ConfigMap.

The rule leaves out files whose policy or chart of the operator names another ConfigMap, or that deploy the MIG manager
without the operator.

Give the ConfigMap a name of its own, and write it under `migManager.config.name` or `gpuClientsConfig.name`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.analysis.objects.releases import releases
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

# The default ConfigMaps of the operator, with the field of the policy that names another one.
_DEFAULTS = {
    "default-mig-parted-config": ("migManager", "config"),
    "default-gpu-clients": ("migManager", "gpuClientsConfig"),
    "default-vgpu-devices-config": ("vgpuDeviceManager", "config"),
}


@rule(
    code="GO068",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator controllers/object_controls.go: createConfigMap",
        "github.com/NVIDIA/gpu-operator issue 384",
    ),
    needs=tuple(_DEFAULTS),
)
def default_config_replaced(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report ConfigMaps that the operator writes again."""
    field = _DEFAULTS.get(resource.name) if resource.kind == "ConfigMap" else None
    if field is None or items(resource.tree, "metadata", "ownerReferences"):
        return
    operators = _operators.of(context.project)
    named = operators.names.get(resource.name, frozenset())
    if " " in resource.namespace or named - {"", resource.name} or operators.has_own_manager:
        return
    if mapping(resource.tree, "data"):
        yield Problem(
            resource.at.child("metadata", "name"),
            f"the GPU operator owns `{resource.name}` and overwrites it with its defaults",
            f"give it another name, and write that under `{'.'.join(field)}.name`",
        )


class _Operators(NamedTuple):
    """The ConfigMaps that policies name instead of each default, and true if the files deploy the MIG manager."""

    names: dict[str, frozenset[str]]
    has_own_manager: bool


def _find(project: Project) -> _Operators:
    policies = list(_policies(project))
    names = {
        one: frozenset(text(mapping(policy, *field), "name") for policy in policies) for one, field in _DEFAULTS.items()
    }
    pods = (role.pod for run in project.runs if run.kind == "DaemonSet" for role in run.roles)
    managers = (one for pod in pods for one in pod.containers if short_name(one.image) == "k8s-mig-manager")
    return _Operators(names, any(True for _ in managers))


def _policies(project: Project) -> Iterator[dict[str, Any]]:
    """Yields the settings of the operator: those of its policy, and the values of its chart."""
    for policy in project.of_kind("ClusterPolicy"):
        if policy.api_version.startswith("nvidia.com/"):
            yield mapping(policy.tree, "spec")
    for release in releases(project):
        if release.chart == "gpu-operator":
            yield release.values


_operators: LastIndex[Project, _Operators] = LastIndex(_find)
