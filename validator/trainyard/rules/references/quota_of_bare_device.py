"""The quota names a device without `requests.`, so it limits nothing.

A ResourceQuota counts extended resources as `requests.<name>` alone. Under any other name, such as `nvidia.com/gpu` or
`limits.nvidia.com/gpu`, pods take as many devices as the nodes have. A Profile of Kubeflow passes
`resourceQuotaSpec` on to a ResourceQuota.

Write `requests.nvidia.com/gpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Rename
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

PATHS = {"ResourceQuota": ("spec", "hard"), "Profile": ("spec", "resourceQuotaSpec", "hard")}
# Shares of GPUs, for which the scheduler of HAMi reads limits of quotas.
SHARES = ("limits.nvidia.com/gpumem", "limits.nvidia.com/gpucores")
# Other names with a slash that a quota counts.
COUNTED = (".storageclass.storage.k8s.io/", ".deviceclass.resource.k8s.io/")


@rule(
    code="RF027",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/policy/resource-quotas: only quota items with the prefix requests. are allowed",
        "github.com/kubeflow/website pull 2460; Project-HAMi/website pull 104: limits of shares",
    ),
    fix="safe",
    needs=("ResourceQuota", "resourceQuotaSpec"),
)
def quota_of_bare_device(resource: Resource) -> Iterator[Problem]:
    """Report devices that a quota does not count."""
    path = PATHS.get(resource.kind)
    if path is None:
        return
    hard = mapping(resource.tree, *path)
    if any(str(name).startswith(SHARES) for name in hard):
        return
    for name in hard:
        device = str(name).removeprefix("limits.")
        if "/" not in device or device.startswith(("requests.", "count/")) or any(part in device for part in COUNTED):
            continue
        if f"requests.{device}" in hard:
            continue
        at = resource.at.child(*path, str(name)).key()
        yield Problem(
            at,
            f"a quota does not count `{name}`: pods take any number of these devices",
            f"write `requests.{device}`",
            (Rename(at, f"requests.{device}"),),
        )
