"""A component of the GPU operator cannot read the value of an environment variable of the ClusterPolicy.

The operator adds the variables below `env` to the container of the component. The device plugin, GPU feature discovery
and the DCGM exporter stop for a value that they cannot read, such as `mix` for the strategy of MIG or `yes` for a
switch. Then the nodes offer no GPUs, get no labels or export no metrics.

Write one of the values that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.variable_values import is_taken, wanted_value
from trainyard.document.lookup import items
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.library_variables import KNOWN
from trainyard.model.run import Resource

# The image of each component, as in the table of variables.
_IMAGES = {"devicePlugin": "k8s-device-plugin", "gfd": "k8s-device-plugin", "dcgmExporter": "dcgm-exporter"}


@rule(
    code="GO078",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 controllers/object_controls.go: TransformDevicePlugin, TransformDCGMExporter",
        "facts/programs/library_variables.py: the source of each component",
    ),
    needs=("ClusterPolicy",),
)
def operator_variable_refused(resource: Resource) -> Iterator[Problem]:
    """Report a variable with a value that the component does not take."""
    if resource.kind != "ClusterPolicy" or not resource.api_version.startswith("nvidia.com/"):
        return
    for component, image in _IMAGES.items():
        for number, entry in enumerate(items(resource.tree, "spec", component, "env")):
            name, value = (entry.get("name"), entry.get("value")) if isinstance(entry, dict) else (None, None)
            known = KNOWN.get(name) if isinstance(name, str) else None
            if known is None or not isinstance(value, str) or "{" in value or "<" in value or "$" in value:
                continue
            if known.image in ("", image) and not is_taken(value, known):
                yield Problem(
                    resource.at.child("spec", component, "env", number, "value"),
                    f"{name} is `{value}`: the program {known.effect}",
                    wanted_value(value, known),
                )
