"""A program works in a folder whose path is fixed in it, and the container mounts nothing there.

The provisioner of NFS folders creates each volume below `/persistentvolumes`. Without the export there, it creates the
folder in the container and reports success, and pods fail to mount it. Device plugins register at a socket in
`/var/lib/kubelet/device-plugins`. Without that folder of the node they stop, or wait, and the node offers no device.

The rule leaves out containers with a command of their own, those that name another path of the kubelet, patches, and
AMD's labeller of nodes, which is in the image of its plugin.

Mount the export or the folder of the node at the path.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.patches import may_be_patched
from trainyard.analysis.pods.mounts import mount_of
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.images import short_name
from trainyard.model.run import Container

_SOCKETS = "/var/lib/kubelet/device-plugins"
# The last part of an image's name, and the path that its program has fixed.
PATHS = {
    "nfs-subdir-external-provisioner": "/persistentvolumes",
    "nfs-client-provisioner": "/persistentvolumes",
    "k8s-device-plugin": _SOCKETS,
    "k8s-rdma-shared-dev-plugin": _SOCKETS,
    "aws-efa-k8s-device-plugin": _SOCKETS,
    "intel-gpu-plugin": _SOCKETS,
}
_LABELLER = ":labeller"


@rule(
    code="GO025",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes-sigs/nfs-subdir-external-provisioner cmd/nfs-subdir-external-provisioner/provisioner.go: mountPath",
        "kubernetes v1.34.4 staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/constants.go: DevicePluginPath",
        "github.com/kubernetes-retired/external-storage issue 918",
    ),
    needs=("nfs-", "-plugin"),
)
def fixed_path_not_mounted(container: Container, context: Context) -> Iterator[Problem]:
    """Report programs without their folder."""
    name = short_name(container.image)
    path = PATHS.get(name)
    if (
        path is None
        or container.command
        or mount_of(container, path) is not None
        or _LABELLER in (container.image or "")
    ):
        return
    words = (*container.args, *(setting.name for setting in container.settings))
    if any(mount.mount_path.startswith(f"{path}/") for mount in container.mounts):
        return
    if any("kubelet" in word.lower() for word in words):
        return
    if not may_be_patched(container.at, context.run, context.project, path, name):
        yield Problem(
            container.at.child("image"),
            f"`{name}` works in {path}, and container `{container.name}` mounts nothing there",
            f"mount its volume at {path}",
        )
