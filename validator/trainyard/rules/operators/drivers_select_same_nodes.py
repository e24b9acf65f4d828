"""Two NVIDIADriver objects select the same nodes, so the GPU operator installs a driver by neither of them.

Each node has one driver. An NVIDIADriver without a `nodeSelector` selects all nodes with GPUs, also those that
another one selects. The operator compares all objects, and reports "multiple NVIDIADrivers match the same node". The
object that the chart makes by itself, `default`, has no selector: set `driver.nvidiaDriverCRD.deployDefaultCR` to
false.

Since release 26.7, one object may be the default (`spec.default: true`), for the nodes that no other selects.

The rule compares objects of one file, because several files may be for different clusters.

Add a selector to each object, with values that no node has together.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project, Resource

# The selector of an object that has none.
_ALL = frozenset((("nvidia.com/gpu.present", "true"),))


@rule(
    code="GO083",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/gpu-operator v26.7.0 internal/validator/validator.go: nodeSelectorValidator.Validate",
        "NVIDIA/gpu-operator v26.7.0 api/nvidia/v1alpha1/nvidiadriver_types.go: GetNodeSelector",
        "github.com/NVIDIA/gpu-operator issue 2259",
    ),
    needs=("NVIDIADriver",),
)
def drivers_select_same_nodes(project: Project) -> Iterator[Problem]:
    """Report drivers whose nodes another one selects too."""
    files: dict[str, dict[frozenset[tuple[str, str]], Resource]] = {}
    for driver in project.of_kind("NVIDIADriver"):
        spec = mapping(driver.tree, "spec")
        if spec.get("default") is True or not driver.api_version.startswith("nvidia.com/"):
            continue
        selector = frozenset((str(key), str(value)) for key, value in mapping(spec, "nodeSelector").items()) or _ALL
        known = files.setdefault(driver.at.document.source.name, {})
        other = known.setdefault(selector, driver)
        if other.name != driver.name:
            yield _problem(driver, other)
    for known in files.values():
        every, chosen = known.get(_ALL), [one for selector, one in known.items() if selector != _ALL]
        if every is not None and chosen and every.name != chosen[0].name:
            yield _problem(every, chosen[0])


def _problem(driver: Resource, other: Resource) -> Problem:
    at = driver.at.child("spec", "nodeSelector")
    has_selector = bool(mapping(driver.tree, "spec", "nodeSelector"))
    return Problem(
        at.key() if has_selector else driver.at.child("metadata", "name"),
        f"the driver {driver.name} selects nodes of {other.name} too"
        + ("" if has_selector else ", because it has no nodeSelector")
        + ": the operator installs neither",
        "write selectors that no node fits together",
        related=((other.at.child("metadata", "name"), other.name),),
    )
