"""The GPU operator no longer reads this field, so it has no effect.

Fields that the operator dropped stay in its API so that old objects remain valid, and nothing reports that they have no
effect. These are `cdi.default` (with `cdi.enabled` CDI is the default since v25.10), `kataManager` (since v26.7) and
`psp` (Pod Security Policies are gone since Kubernetes 1.25; `psa` replaces them). After an upgrade, a cluster with one
of them differs from its file. `kataManager` and `psp` are off by default: without `enabled: true` they ask for nothing,
and are not reported.

Remove the field, or write its replacement. `useOpenKernelModules` and `operator.defaultRuntime` have their own rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.document.document import Remove
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


class Former(NamedTuple):
    """A field that the operator no longer reads, the reason, and the advice."""

    path: tuple[str, ...]
    why: str
    instead: str


FORMER = (
    Former(("cdi", "default"), "`cdi.enabled` makes CDI the default", "remove it; set `cdi.enabled`"),
    Former(("kataManager",), "it no longer sets up Kata Containers", "remove it"),
    Former(("psp",), "Kubernetes has no Pod Security Policies since 1.25", "remove it; `psa.enabled` replaces it"),
)


@rule(
    code="GO007",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("NVIDIA/gpu-operator v26.7.0 api/nvidia/v1/clusterpolicy_types.go: Deprecated",),
    fix="safe",
    needs=("ClusterPolicy",),
)
def gpuop_field_without_effect(resource: Resource) -> Iterator[Problem]:
    """Fields that the operator no longer reads."""
    if resource.kind != "ClusterPolicy" or not resource.api_version.startswith("nvidia.com/"):
        return
    for path, why, instead in FORMER:
        value = mapping(resource.tree, "spec", *path[:-1]).get(path[-1])
        # Nothing is lost of a part that is off, as each is by default.
        if value and not (isinstance(value, dict) and value.get("enabled") is not True):
            at = resource.at.child("spec", *path)
            name = ".".join(path)
            yield Problem(at.key(), f"the GPU operator ignores `{name}`: {why}", instead, (Remove(at),))
