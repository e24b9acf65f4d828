"""The table with the conditions on each kind, imported when an object of its group first occurs.

All tables together take a twentieth of the time in which a small file is linted.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping, Sequence

from trainyard.analysis.admission.constraints import Row
from trainyard.facts.jobs.workloads import group_of

_TABLES: dict[str, tuple[str, ...]] = {
    "kubernetes": ("", "apps", "autoscaling", "batch", "networking.k8s.io", "policy", "scheduling.k8s.io"),
    "operators": (
        *("batch.volcano.sh", "jobset.x-k8s.io", "karpenter.sh", "kueue.x-k8s.io", "leaderworkerset.x-k8s.io"),
        *("ray.io", "topology.volcano.sh", "trainer.kubeflow.org"),
    ),
    "monitoring": ("monitoring.coreos.com",),
    "clouds": (
        *("eksctl.io", "external-secrets.io", "helm.toolkit.fluxcd.io", "karpenter.k8s.aws", "keda.sh"),
        "nvidia.com",
    ),
    "components": ("kubelet.config.k8s.io", "kubescheduler.config.k8s.io"),
}
_BY_GROUP = {group: table for table, groups in _TABLES.items() for group in groups}


def rows_of(api_version: str, kind: str) -> Sequence[Row]:
    """Returns the conditions on the objects of a kind; none if no table has the kind."""
    group = group_of(api_version) if "/" in api_version else ""
    table = _BY_GROUP.get(group)
    return _rows(table).get((group, kind), ()) if table is not None else ()


@functools.cache
def _rows(table: str) -> Mapping[tuple[str, str], Sequence[Row]]:
    rows: Mapping[tuple[str, str], Sequence[Row]] = importlib.import_module(f"{__package__}.{table}").ROWS
    return rows
