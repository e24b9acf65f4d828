"""The GPU operator no longer reads this field, so what it asks for does not happen.

Fields that the operator has given up stay in its API, so that old objects are still taken, and nothing says that they
do nothing: `operator.defaultRuntime` (the runtime of each node is detected since v26.3), `cdi.default` (with
`cdi.enabled` CDI is the default since v25.10), `kataManager` (since v26.7) and `psp` (Pod Security Policies are gone
since Kubernetes 1.25; `psa` is what takes their place). Who upgrades with one of them has a cluster that is not as its
file says.

Remove the field, or write what took its place. `useOpenKernelModules` has a rule of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from validator.fields import mapping
from validator.model import Resource
from validator.rule import Problem, Remove, rule


class Former(NamedTuple):
    """A field that nothing reads any more, the reason, and what to do."""

    path: tuple[str, ...]
    why: str
    instead: str


FORMER = (
    Former(("operator", "defaultRuntime"), "it detects the container runtime of each node", "remove it"),
    Former(("cdi", "default"), "`cdi.enabled` makes CDI the default", "remove it; set `cdi.enabled`"),
    Former(("kataManager",), "it no longer sets up Kata Containers", "remove it"),
    Former(("psp",), "Kubernetes has no Pod Security Policies since 1.25", "remove it; `psa.enabled` takes its place"),
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
    """Fields that the operator has given up."""
    if resource.kind != "ClusterPolicy" or not resource.api_version.startswith("nvidia.com/"):
        return
    for path, why, instead in FORMER:
        if path[-1] in mapping(resource.tree, "spec", *path[:-1]):
            at = resource.at.child("spec", *path)
            name = ".".join(path)
            yield Problem(at.key(), f"the GPU operator does not read `{name}`: {why}", instead, (Remove(at),))
