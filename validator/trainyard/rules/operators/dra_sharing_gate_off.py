"""A claim shares its GPU in a way whose feature gate is off in NVIDIA's DRA driver, so the pod does not start.

The driver refuses a `GpuConfig` with `strategy: TimeSlicing` unless its feature gate `TimeSlicingSettings` is on, and
one with `strategy: MPS` without `MPSSupport`: "unknown GPU sharing strategy". Both are off by default. Releases before
25.8 have no such gates.

The rule applies if the values of one release of the chart `nvidia-dra-driver-gpu` are in the files: those of an object,
or a file of values with `gpuResourcesEnabledOverride`, which this chart alone has, beside a claim of Kubernetes 1.34.
It leaves out releases with further values that are not in the files.

Turn the gate on under `featureGates` in the values of the chart, or remove `sharing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.dra_driver import CHARTS, OWN, Driver, drivers
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.versions import before
from trainyard.model.run import Resource

_GATES = {"TimeSlicing": "TimeSlicingSettings", "MPS": "MPSSupport"}
# The first release with the gates; the chart of kubernetes-sigs is newer.
_FIRST = (25, 8)
_DRIVER = "gpu.nvidia.com"
_PATHS = {"ResourceClaim": ("spec", "devices"), "ResourceClaimTemplate": ("spec", "spec", "devices")}


@rule(
    code="GO027",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/dra-driver-nvidia-gpu v25.8.0 pkg/featuregates/featuregates.go: "
        "TimeSlicingSettings, MPSSupport",
        "kubernetes-sigs/dra-driver-nvidia-gpu v25.8.0 api/nvidia.com/resource/v1beta1/gpuconfig.go: Normalize",
        "github.com/kubernetes-sigs/dra-driver-nvidia-gpu issue 762",
    ),
    needs=(*CHARTS, OWN),
)
def dra_sharing_gate_off(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report strategies of sharing without their feature gate."""
    path = _PATHS.get(resource.kind, ())
    shared = list(_strategies(resource, path)) if path else []
    found = drivers(context.project) if shared else ()
    if len(found) != 1 or not _has_gates(found[0], resource):
        return
    values, driver_at, _ = found[0]
    for strategy, at in shared:
        gate = _GATES.get(strategy)
        if gate is not None and str(mapping(values, "featureGates").get(gate)).lower() != "true":
            yield Problem(
                at,
                f"the driver knows the strategy {strategy} only with its feature gate `{gate}`, which is off",
                f"write `featureGates: {{{gate}: true}}` in the values of {CHARTS[0]}",
                related=((driver_at, "the driver"),),
            )


def _has_gates(driver: Driver, resource: Resource) -> bool:
    """True if the driver is certainly a release with the gates, and all of its values are known."""
    if driver.release is None:
        return "featureGates" in driver.values or resource.api_version == "resource.k8s.io/v1"
    is_older = driver.release.chart == CHARTS[0] and before(driver.release.numbers, _FIRST)
    return not driver.release.is_open and not is_older


def _strategies(resource: Resource, path: tuple[str, ...]) -> Iterator[tuple[str, Place]]:
    """Yields the strategies of the configurations of a claim."""
    for index, one in enumerate(items(mapping(resource.tree, *path), "config")):
        if text(one, "opaque", "driver") != _DRIVER:
            continue
        steps = ("opaque", "parameters", "sharing")
        strategy = text(mapping(one, *steps), "strategy")
        if strategy:
            yield strategy, resource.at.child(*path, "config", index, *steps, "strategy")
