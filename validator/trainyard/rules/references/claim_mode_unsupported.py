"""The claim requests an access mode that its storage cannot give, so it stays Pending and its pods wait.

A disk of a cloud or of one node serves one node: `ReadWriteMany` of its class fails with "invalid AccessModes" or
"Volume capability not supported". File systems such as NFS, Lustre, EFS and Filestore serve many. `ReadWriteOncePod`
may not stand beside another mode; the API server refuses the claim.

The rule knows the class by its provisioner, if the StorageClass is in the files, or by the names that EKS, GKE, AKS and
k3s give their disks, such as `gp3`, `standard-rwo`, `managed-csi` and `local-path`. It ignores claims of raw blocks,
and `local-path` if its configuration has a `sharedFileSystemPath`.

Write a class of a shared file system, or request `ReadWriteOnce`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import everywhere
from trainyard.document.lookup import items, mapping, text
from trainyard.document.source import Source
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

_LOCAL = "rancher.io/local-path"
PROVISIONERS = frozenset((
    "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
    "ebs.csi.eks.amazonaws.com", "kubernetes.io/azure-disk", "disk.csi.azure.com",
    _LOCAL, "blockvolume.csi.oraclecloud.com", "vpc.block.csi.ibm.io",
))  # fmt: skip
NAMES = frozenset((
    "gp2", "gp3", "standard-rwo", "premium-rwo", "managed-csi", "managed-csi-premium", "managed-premium", "local-path",
    "oci-bv",
))  # fmt: skip
# The field of the local path provisioner for a file system that all nodes mount.
_SHARED = "sharedFileSystemPath"


@rule(
    code="RF032",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: access modes of the volume types",
        "rancher/local-path-provisioner v0.0.37 provisioner.go: provisionFor, sharedFileSystemPath",
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: ReadWriteOncePod with other access modes",
        "github.com/kubeflow/kubeflow issue 4757",
    ),
    needs=("ReadWriteMany", "ReadWriteOncePod"),
)
def claim_mode_unsupported(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report access modes that a claim cannot get."""
    if resource.kind != "PersistentVolumeClaim":
        return
    modes, at = items(resource.tree, "spec", "accessModes"), resource.at.child("spec", "accessModes")
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield Problem(
            at.child(modes.index("ReadWriteOncePod")),
            "ReadWriteOncePod may not stand beside another access mode: the API server rejects the claim",
            "write one of the modes",
        )
        return
    name = text(resource.tree, "spec", "storageClassName")
    if "ReadWriteMany" not in modes or text(resource.tree, "spec", "volumeMode") == "Block":
        return
    if _is_told.of(resource.at.document.source):
        return
    if name and not text(resource.tree, "spec", "volumeName") and _is_of_disks(name, context.project):
        yield Problem(
            at.child(modes.index("ReadWriteMany")),
            f"StorageClass `{name}` makes disks of one node, which do not offer ReadWriteMany: the claim stays Pending",
            "write the class of a shared file system, or request ReadWriteOnce",
        )


def _is_of_disks(name: str, project: Project) -> bool:
    known = everywhere(project, "StorageClass", name)
    if not known:
        return name in NAMES and not (name == "local-path" and _shared.of(project))
    if any(text(one.tree, "provisioner") == _LOCAL for one in known) and _shared.of(project):
        return False
    return all(text(one.tree, "provisioner") in PROVISIONERS for one in known)


def _is_shared(project: Project) -> bool:
    """True if a configuration of the local path provisioner makes volumes in a shared file system."""
    configs = (mapping(one.tree, "data") for one in project.of_kind("ConfigMap"))
    return any(_SHARED in str(text) for data in configs for text in data.values())


_shared: LastIndex[Project, bool] = LastIndex(_is_shared)
# A comment tells what the provisioner needs for the claims of a file.
_is_told: LastIndex[Source, bool] = LastIndex(lambda source: _SHARED in source.text)
