"""A container mounts a device file of the node without the right to open it.

A `hostPath` volume makes the file visible, but the device cgroup of a container allows only a few devices, such as
`/dev/null`. Opening any other one fails with `Operation not permitted`: verbs find no adapter, FUSE does not mount, and
GPUs of AMD are missing. A device plugin, a resource claim or an annotation for the container runtime adds the device
to the cgroup, and a privileged container may open all.

The rule leaves out containers that request another device than a GPU, pods with claims, with a runtime class or with
annotations about devices, and device plugins, which list the devices of a node. A plugin for GPUs does not add RDMA
adapters.

Request the resource of the device plugin and remove the volume, or make the container privileged.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.model.run import Container, Pod

# Files that the default rules of the runtime leave out, each with what its device is.
FILES = {
    "/dev/infiniband": "RDMA adapters",
    "/dev/fuse": "FUSE",
    "/dev/kvm": "KVM",
    "/dev/vfio": "VFIO",
    "/dev/knem": "KNEM",
    "/dev/xpmem": "XPMEM",
    "/dev/gdrdrv": "GDRCopy",
    "/dev/kfd": "GPUs of AMD",
    "/dev/dri": "GPUs",
}
# Devices of GPUs, which the plugin for GPUs may add.
_PLUGINS = "/var/lib/kubelet/device-plugins"
_OF_GPUS = ("/dev/gdrdrv", "/dev/kfd", "/dev/dri")


@rule(
    code="RS019",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "opencontainers/runc libcontainer/specconv/spec_linux.go: AllowedDevices",
        "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/: DeviceSpec",
        "github.com/apache/brpc issue 2298",
    ),
    needs=("/dev/",),
)
def device_file_not_allowed(pod: Pod) -> Iterator[Problem]:
    """Report device files that a container can see and not open."""
    if _is_granted_otherwise(pod):
        return
    for volume in pod.volumes:
        path = text(volume.body, "path").rstrip("/") if volume.kind == "hostPath" else ""
        file = next((one for one in FILES if path == one or path.startswith(f"{one}/")), None)
        if file is None:
            continue
        for container in pod.containers:
            mounts = any(mount.volume == volume.name for mount in container.mounts)
            if mounts and not container.privileged and not _has_plugin(container, file):
                yield Problem(
                    volume.at.child("hostPath", "path"),
                    f"container `{container.name}` mounts {path}, but may not open it ({FILES[file]})",
                    "request the resource of a device plugin instead of the volume, or make the container privileged",
                )
                break


def _is_granted_otherwise(pod: Pod) -> bool:
    notes = [str(name).lower() for name in pod.annotations]
    fields = ("resourceClaims", "runtimeClassName")
    if any(text(volume.body, "path").startswith(_PLUGINS) for volume in pod.volumes):
        return True
    return any(pod.tree.get(field) for field in fields) or any("device" in one or "cdi" in one for one in notes)


def _has_plugin(container: Container, file: str) -> bool:
    devices = [name for name in (*container.limits, *container.requests) if is_device(name)]
    return bool(devices) if file in _OF_GPUS else any(not is_accelerator(name) for name in devices)
