"""The node's /dev/infiniband is mounted although a device plugin gives the container its RDMA device.

The device plugin puts the device files of the allocated cards into the container. A `hostPath` volume over
`/dev/infiniband` shows the files of all cards instead; those that were not allocated cannot be opened (`Operation not
permitted`), or, in a privileged container, are used although another pod has them. NCCL may then pick a card that
fails. Pod Security's level `baseline` and above refuse host paths.

Remove the volume and its mount.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.devices import rdma_resources
from validator.fields import text
from validator.model import Pod
from validator.rule import Edit, Problem, Remove, rule

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
    """The device files of all cards beside those that were allocated."""
    for volume in pod.volumes:
        if volume.kind != "hostPath" or not text(volume.body, "path").startswith(DEVICES):
            continue
        users = [(one, mount) for one in pod.containers for mount in one.mounts if mount.volume == volume.name]
        device = next((rdma_resources(container)[0] for container, _ in users if rdma_resources(container)), None)
        if device is not None:
            edits: tuple[Edit, ...] = (*(Remove(mount.at) for _, mount in users), Remove(volume.at))
            yield Problem(
                volume.at.child("hostPath", "path"),
                f"volume {volume.name} shows all RDMA devices of the node, beside the {device} that is allocated",
                "remove the volume and its mount: the device plugin mounts the device",
                edits if all(rdma_resources(container) for container, _ in users) else (),
            )
