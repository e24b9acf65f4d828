"""The container asks for a resource by a name that no node has, because of a letter, its case or a missing domain.

Kubernetes itself has `cpu`, `memory`, `ephemeral-storage` and `hugepages-<size>`. The API server refuses any other
name without a domain: "must be a standard resource for containers". It takes every name with a domain, and the pod
stays Pending with "Insufficient nvidia.com/gpus".

The rule knows the names of common device plugins, and reports names that differ from one of them in one letter, in
case or in the domain, and profiles of MIG of another form than `nvidia.com/mig-1g.10gb`.

Write the name as the device plugin has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.document import Rename
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import unlike_ends
from trainyard.model.run import Container

_KNOWN = (
    "nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe",
    "habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "vpc.amazonaws.com/efa", "huawei.com/Ascend910", "rdma/hca", "rdma/ib",
)  # fmt: skip
# Names of other plugins that resemble these.
_OTHERS = frozenset(("nvidia.com/vgpu", "nvidia.com/pgpu", "amd.com/cpu", "rdma/hca_a", "rdma/iba"))
_STANDARD = ("cpu", "memory", "ephemeral-storage")
_MEANT = {
    "mem": "memory", "ram": "memory", "cpus": "cpu", "gpu": "nvidia.com/gpu", "gpus": "nvidia.com/gpu",
    "storage": "ephemeral-storage", "ephemeral_storage": "ephemeral-storage", "ephemeralStorage": "ephemeral-storage",
    "disk": "ephemeral-storage", "efa": "vpc.amazonaws.com/efa",
}  # fmt: skip
_MIG = re.compile(r"nvidia\.com/mig-(?:\d+c\.)?\d+g\.\d+gb(?:[.+-][\w.+-]+)?\Z")
_LIKE_MIG = re.compile(r"nvidia\.com/mig-\d+g", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[\w.-]+)?\Z")


@rule(
    code="RS022",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateContainerResourceName",
        "NVIDIA/k8s-device-plugin README; ROCm/k8s-device-plugin README; aws-neuron k8-neuron-device-plugin.yml",
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
    if not _NAME.match(name) or name in _KNOWN or name in _OTHERS:
        return None
    if "/" not in name:
        if name.startswith("hugepages-"):
            return None
        said = f"`{name}` is no resource of Kubernetes, and has no domain: the API server refuses the pod"
        return said, _MEANT.get(name, "")
    if _LIKE_MIG.match(name) and not _MIG.match(name):
        return f"`{name}` is no profile of MIG: no node has it, and the pod stays Pending", ""
    meant = next((one for one in _KNOWN if _is_near(name, one)), None)
    return (f"no device plugin offers `{name}`: the pod stays Pending", meant) if meant is not None else None


def _is_near(name: str, known: str) -> bool:
    """True if case, a domain's ending or one letter differs; digits tell things apart."""
    if name.lower() == known.lower() or known == name.replace("/", ".com/", 1):
        return True
    if abs(len(name) - len(known)) > 1 or len(known) < 10 or name[:1] != known[:1]:
        return False
    a, b = unlike_ends(name, known)
    changed = f"{a[:1]}{b[:1]}"
    return not any(sign.isdigit() or sign in "._-" for sign in changed) and (a[1:] in (b, b[1:]) or a == b[1:])
