"""A network names a resource with another prefix than the device plugin offers it under, so its pods get no device.

The SR-IOV device plugin has the prefix `intel.com` unless `resourcePrefix` of the resource or its option
`--resource-prefix` says otherwise, and the shared RDMA plugin has `rdma`. A pod that requests the other name stays
Pending.

The rule applies if the files configure the device plugin.

Write the name that the message gives, or the prefix into the plugin's configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_plugins import offered
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.manifest import RESOURCE_NAME
from trainyard.model.run import Resource


@rule(
    code="NT034",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: resourcePrefix, --resource-prefix",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 563",
    ),
    needs=("resourceName",),
)
def network_resource_of_other_prefix(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report names that the device plugin has under another prefix."""
    if resource.kind != "NetworkAttachmentDefinition":
        return
    path = ("metadata", "annotations", RESOURCE_NAME)
    name = text(resource.tree, *path)
    prefix, _, short = name.rpartition("/")
    devices = offered(context.project)
    others = sorted(one for one in devices.names if one.rpartition("/")[2] == short)
    if prefix and others and name not in devices.names and short not in devices.any_prefix:
        yield Problem(
            resource.at.child(*path),
            f"the device plugin in these files offers `{others[0]}`, not `{name}`: the pods get no device",
            f"write `{others[0]}`, or set `resourcePrefix` to `{prefix}`",
        )
