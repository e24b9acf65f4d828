"""The ConfigMap has the name that a component looks for, and no key that it reads, so it has no effect.

The cluster autoscaler reads `priorities` from `cluster-autoscaler-priority-expander`, Volcano's scheduler
`volcano-scheduler.conf`, and Kueue `controller_manager_config.yaml`. With another key, such as `priority`, the
component starts with its defaults, or does not start at all.

The rule knows ConfigMaps of Kubernetes, the cluster autoscaler, EKS, Kueue, JobSet, LeaderWorkerSet, Volcano, Node
Feature Discovery, Multus, and the device plugins for SR-IOV and RDMA.

Write the key that the message names.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.kubernetes.read_config_maps import KEYS
from trainyard.loaders.schemas.partial import is_named_patch, is_partial
from trainyard.model.run import Resource


@rule(
    code="RF058",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes/autoscaler cluster-autoscaler/expander/priority: doesn't contain priorities key",
        "facts/kubernetes/read_config_maps.py: the source of each name",
        "github.com/awsdocs/amazon-eks-user-guide pull 315",
    ),
    needs=tuple(KEYS),
)
def config_map_key_unread(resource: Resource) -> Iterator[Problem]:
    """Report ConfigMaps without a key that is read."""
    keys = KEYS.get(resource.name)
    if keys is None or resource.kind != "ConfigMap" or resource.api_version != "v1":
        return
    if is_named_patch(resource.at.document) or is_partial(resource.at.document):
        return
    data = {**mapping(resource.tree, "data"), **mapping(resource.tree, "binaryData")}
    if not data or any(key in data for key in keys) or any("{" in str(key) or "$" in str(key) for key in data):
        return
    first = next(iter(mapping(resource.tree, "data")), None)
    near = closest_match(str(first), keys, 0.6) or keys[0]
    yield Problem(
        resource.at.child("data", first).key() if first is not None else resource.at.child("metadata", "name"),
        f"only these keys of `{resource.name}` are read: {format_list(f'`{key}`' for key in keys)}",
        f"write `{near}`",
    )
