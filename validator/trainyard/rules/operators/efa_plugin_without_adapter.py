"""The device plugin for EFA is placed on instance types without such an adapter, where it ends again and again.

Elastic Fabric Adapters exist on some sizes of an instance family only. The plugin finds no device on the others and
exits with an error, so the pods of its DaemonSet are in `CrashLoopBackOff`, and an alert or `helm install --wait`
fails.

The rule knows sizes of instance families of which the smaller ones have no EFA. Others are not judged.

Remove the instance type from the node affinity.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.pods.placement import instance_types
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.efa import has_no_adapter, is_plugin
from trainyard.model.run import Pod


@rule(
    code="GO019",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html: supported instance types",
        "github.com/aws/sagemaker-hyperpod-cli issue 367",
    ),
    needs=("aws-efa-k8s-device-plugin",),
)
def efa_plugin_without_adapter(pod: Pod) -> Iterator[Problem]:
    """Report instance types without an adapter."""
    if not any(is_plugin(container.image or "") for container in pod.containers):
        return
    for name, at in instance_types(pod):
        if has_no_adapter(name):
            yield Problem(at, f"{name} has no EFA: the device plugin fails there", "remove it from the list")
