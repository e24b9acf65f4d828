"""The GPU has the name that Kubernetes used before device plugins, and no node offers it any more.

`alpha.kubernetes.io/nvidia-gpu` was a part of the kubelet until Kubernetes 1.10. Since then, device plugins advertise
GPUs, NVIDIA's as `nvidia.com/gpu`. A pod with the old name stays pending with "Insufficient
alpha.kubernetes.io/nvidia-gpu". The same holds for the label `alpha.kubernetes.io/nvidia-gpu-name` in a node selector.

A file whose objects have API versions of that time gets one finding for both, `objects-of-old-release`.

Write `nvidia.com/gpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.old_releases import OLD_GPU, lies_in_old_release
from trainyard.analysis.resources.devices import quantity_at
from trainyard.document.document import Rename
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

_OLD, _NEW = OLD_GPU, "nvidia.com/gpu"


@rule(
    code="RS011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes CHANGELOG-1.10 and 1.11: the feature gate Accelerators and alpha.kubernetes.io/nvidia-gpu are gone",
        "github.com/caicloud/charts pull 40",
    ),
    fix="unsafe",
    needs=(_OLD,),
)
def gpu_resource_dropped(container: Container, context: Context) -> Iterator[Problem]:
    """Report the name of GPUs before device plugins."""
    for field, quantities in (("limits", container.limits), ("requests", container.requests)):
        if _OLD in quantities and not lies_in_old_release(container.at, context.project):
            at = quantity_at(context.run, context.role, container, field, _OLD)
            message = f"no node offers `{_OLD}` since Kubernetes 1.11: the pod stays Pending"
            yield Problem(at, message, f"write `{_NEW}`", (Rename(at.key(), _NEW),))
