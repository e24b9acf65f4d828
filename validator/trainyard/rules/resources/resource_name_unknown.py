"""The container asks for a resource by a name that no node has, because of a letter, its case or a missing domain.

Kubernetes itself has `cpu`, `memory`, `ephemeral-storage` and `hugepages-<size>`. The API server refuses any other
name without a domain: "must be a standard resource for containers". It takes every name with a domain, and the pod
stays Pending with "Insufficient nvidia.com/gpus".

The rule knows the names of common device plugins, and reports names that differ from one of them in one letter, in
case or in the domain, and profiles of MIG of another form than `nvidia.com/mig-1g.10gb`. It also knows names that are
no longer offered, such as `aws.amazon.com/neurondevice`, and domains whose plugins offer few resources.

Write the name as the device plugin has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.resource_names import unknown
from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container
from trainyard.startup import pattern

_STANDARD = ("cpu", "memory", "ephemeral-storage")
_MEANT = {
    "mem": "memory", "ram": "memory", "cpus": "cpu", "gpu": "nvidia.com/gpu", "gpus": "nvidia.com/gpu",
    "storage": "ephemeral-storage", "ephemeral_storage": "ephemeral-storage", "ephemeralStorage": "ephemeral-storage",
    "disk": "ephemeral-storage", "efa": "vpc.amazonaws.com/efa",
}  # fmt: skip
_NAME = pattern(r"[A-Za-z0-9][\w.-]*\Z")


@rule(
    code="RS022",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateContainerResourceName",
        "NVIDIA/k8s-device-plugin README; ROCm/k8s-device-plugin README; aws-neuron k8s-neuron-device-plugin.yml",
        "aws-neuron/aws-neuron-sdk pull 1006; Project-HAMi/HAMi pull 2242 and issue 893",
    ),
    fix="unsafe",
    needs=("limits", "requests"),
)
def resource_name_unknown(container: Container) -> Iterator[Problem]:
    """Report names of resources that no node has."""
    for field, resources in (("limits", container.limits), ("requests", container.requests)):
        for name in resources:
            fault = _fault(str(name)) if name not in _STANDARD else None
            if fault is None:
                continue
            said, meant = fault
            at = container.at.child("resources", field, name).key()
            edits = (Rename(at, meant),) if meant and meant not in resources else ()
            yield Problem(at, said, f"did you mean `{meant}`?" if meant else "write its full name", edits)


def _fault(name: str) -> tuple[str, str] | None:
    if "/" not in name:
        if name.startswith("hugepages-") or not _NAME.match(name):
            return None
        said = f"`{name}` is not a resource of Kubernetes, and has no domain: the API server refuses the pod"
        return said, _MEANT.get(name, "")
    found = unknown(name)
    return (f"{found[0]}: the pod stays Pending", found[1]) if found is not None else None
