"""The pod mounts the node's /dev/infiniband, although a device plugin provides its RDMA device.

The device plugin puts the device files of the allocated adapters into the container. A `hostPath` volume over
`/dev/infiniband` shows the files of all adapters instead. Those that were not allocated cannot be opened
(`Operation not permitted`); in a privileged container they can be used although another pod has them. NCCL may then
pick an adapter that fails. Pod Security Standards from level `baseline` reject host paths.

Remove the volume and its mount.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import rdma_resources
from trainyard.document.document import Edit, Remove
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod

DEVICES = "/dev/infiniband"


@rule(
    code="RD005",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "Mellanox/k8s-rdma-shared-dev-plugin README.md: the plugin mounts the devices",
        "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/: DeviceSpec",
    ),
    fix="unsafe",
    needs=("hostPath",),
)
def infiniband_hostpath_with_device_plugin(pod: Pod) -> Iterator[Problem]:
    """A mount of all the node's RDMA devices, although the device plugin provides the allocated ones."""
    for volume in pod.volumes:
        if volume.kind != "hostPath" or not text(volume.body, "path").startswith(DEVICES):
            continue
        users = [(one, mount) for one in pod.containers for mount in one.mounts if mount.volume == volume.name]
        if any(container.privileged for container, _ in users):
            # It sees all devices of the node anyway, which RD004 reports.
            continue
        device = next((rdma_resources(container)[0] for container, _ in users if rdma_resources(container)), None)
        if device is not None:
            edits: tuple[Edit, ...] = (*(Remove(mount.at) for _, mount in users), Remove(volume.at))
            yield Problem(
                volume.at.child("hostPath", "path"),
                f"volume {volume.name} exposes all RDMA devices of the node; the device plugin provides {device}",
                "remove the volume and its mount: the device plugin mounts the device",
                edits if all(rdma_resources(container) for container, _ in users) else (),
            )
