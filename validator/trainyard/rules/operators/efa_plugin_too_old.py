"""The device plugin for EFA is too old for an instance type: it offers devices that are not network adapters.

P6-B200 instances have NVLink controllers that look like RDMA devices. The plugin before 0.5.10 advertises them as
`vpc.amazonaws.com/efa`. A pod may get one of them instead of an adapter, and NCCL fails in it.

The rule reads the release from the tag of the image, and the instance types from the node affinity.

Use 0.5.10 or later.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import instance_types
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.efa import is_plugin
from trainyard.model.run import Pod
from trainyard.startup import pattern

TAG = pattern(r":v?([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})(?![0-9.])")
FIXED = (0, 5, 10)


@rule(
    code="GO020",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("github.com/aws/sagemaker-hyperpod-cli pull 282: EFA device plugin 0.5.10 for P6-B200",),
    needs=("aws-efa-k8s-device-plugin",),
)
def efa_plugin_too_old(pod: Pod) -> Iterator[Problem]:
    """Report a release that offers wrong devices."""
    types = [name for name, _ in instance_types(pod) if name.startswith("p6-b200")]
    for container in pod.containers if types else ():
        tag = TAG.search(container.image or "")
        if is_plugin(container.image or "") and tag is not None and tuple(map(int, tag.groups())) < FIXED:
            yield Problem(
                container.at.child("image"),
                f"the device plugin of version {tag[0][1:]} offers NVLink controllers of {types[0]} as EFA devices",
                "use v0.5.10 or later",
            )
