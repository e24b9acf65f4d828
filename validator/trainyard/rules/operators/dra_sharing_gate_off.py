"""A claim shares its GPU in a way whose feature gate is off in NVIDIA's DRA driver, so the pod does not start.

The driver refuses a `GpuConfig` with `strategy: TimeSlicing` unless its feature gate `TimeSlicingSettings` is on, and
one with `strategy: MPS` without `MPSSupport`: "unknown GPU sharing strategy". Both are off by default.

The rule applies if the values of one release of the chart `nvidia-dra-driver-gpu` are in the files: those of an object,
or a file of values with `gpuResourcesEnabledOverride`, which this chart alone has.

Turn the gate on under `featureGates` in the values of the chart, or remove `sharing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.dra_driver import CHARTS, OWN, drivers
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

_GATES = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}
_PATHS = {"ResourceClaim": ("spec", "devices"), "ResourceClaimTemplate": ("spec", "spec", "devices")}


@rule(
    code="GO027",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/dra-driver-nvidia-gpu pkg/featuregates/featuregates.go: TimeSlicingSettings, MPSSupport",
        "github.com/kubernetes-sigs/dra-driver-nvidia-gpu issue 762",
    ),
    needs=(*CHARTS, OWN),
)
def dra_sharing_gate_off(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report strategies of sharing without their feature gate."""
    path = _PATHS.get(resource.kind, ())
    shared = list(_strategies(resource, path)) if path else []
    found = drivers(context.project) if shared else ()
    if len(found) != 1:
        return
    values, driver_at = found[0]
    for strategy, at in shared:
        gate = _GATES.get(strategy)
        if gate is not None and str(mapping(values, "featureGates").get(gate)).lower() != "true":
            yield Problem(
                at,
                f"the driver knows the strategy {strategy} with its feature gate `{gate}` alone, which is off",
                f"write `featureGates: {{{gate}: true}}` in the values of {CHARTS[0]}",
                related=((driver_at, "the driver"),),
            )


def _strategies(resource: Resource, path: tuple[str, ...]) -> Iterator[tuple[str, Place]]:
    """Yields the strategies of the configurations of a claim."""
    for index, one in enumerate(items(mapping(resource.tree, *path), "config")):
        steps = ("opaque", "parameters", "sharing")
        strategy = text(mapping(one, *steps), "strategy")
        if strategy:
            yield strategy, resource.at.child(*path, "config", index, *steps, "strategy")
