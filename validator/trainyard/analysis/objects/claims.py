"""Claims that the pods of a run share, with the access modes that the files give them.

Source: kubernetes.io/docs/concepts/storage/persistent-volumes, Access Modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.analysis.objects.folders import NESTED, distance
from trainyard.analysis.objects.known_objects import Known, everywhere, fitting
from trainyard.document.document import Place
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Pod, Project, Role, Run, Volume

# Parts of the names of storage classes and drivers whose volumes any number of nodes mount, whatever a claim says.
_SHARED = (
    "nfs", "efs", "fsx", "lustre", "cephfs", "filestore", "azurefile", "smb", "gluster", "beegfs", "weka", "vast",
    "gpfs", "scale", "juicefs", "hostpath", "s3", "gcs", "blob", "rwx", "shared", "filesystem", "ceph-fs", "seaweedfs",
)  # fmt: skip
# A cluster has one default class, and files of examples a few.
_MOST = 16
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
ONE_NODE = frozenset(("ReadWriteOnce", "ReadWriteOncePod"))
# A folder or a disk of a node, by the name or the provisioner of a class.
_LOCAL = ("local", "no-provisioner", "hostpath", "topolvm", "lvm", "zfs", "directpv")
# Disks that one node attaches: those of clouds, and of storage in the cluster. Other names tell nothing: `standard` is
# a disk on GKE, and a folder of the node in kind and minikube.
_DISKS = (
    "gp2", "gp3", "io1", "io2", "ebs", "disk", "pd-", "pd.csi", "ssd", "hdd", "rwo", "premium", "managed",
    "rbd", "ceph", "block", "longhorn", "cinder", "csi", "mayastor", "linstor", "linode", "hcloud", "oci-bv", "vsphere",
    "rook", "piraeus", "iscsi",
)  # fmt: skip
_SHARED_SOURCES = frozenset(("nfs", "cephfs", "glusterfs", "hostPath"))


class Shared(NamedTuple):
    """A claim that a role mounts; `pods` is the number of training pods of the run that mount it."""

    claim: Known
    role: Role
    at: Place
    pods: int

    @property
    def modes(self) -> frozenset[str]:
        """The access modes."""
        return access_modes(self.claim)

    @property
    def modes_at(self) -> Place:
        """The place of the access modes."""
        return self.claim.at.child("spec", "accessModes")


def access_modes(claim: Known) -> frozenset[str]:
    """Returns the access modes that a claim requests; none if its file does not contain them."""
    return frozenset(str(mode) for mode in items(claim.tree, "spec", "accessModes"))


def claim_of(volume: Volume, run: Run, project: Project) -> Known | None:
    """Returns the claim of a volume; None if the files do not show it, or show several."""
    if volume.kind != "persistentVolumeClaim":
        return None
    name = text(volume.body, "claimName")
    found = fitting(project, "PersistentVolumeClaim", name, run.namespace, volume.at)
    return found[0] if len(found) == 1 and found[0].tree.get("kind") == "PersistentVolumeClaim" else None


def shared_claims(run: Run, project: Project) -> Iterator[Shared]:
    """Yields the claims that several training pods of a run mount, each once."""
    found: dict[int, Shared] = {}
    for role in run.training_roles if run.is_job else run.roles:
        for volume in role.pod.volumes:
            claim = claim_of(volume, run, project)
            if claim is not None and role.replicas is not None:
                first = found.get(id(claim), Shared(claim, role, volume.at.child(volume.kind, "claimName"), 0))
                found[id(claim)] = first._replace(pods=first.pods + _pods(role, run))
    yield from (one for one in found.values() if one.pods > 1)


def _pods(role: Role, run: Run) -> int:
    most = integer(run.elastic or {}, "maxReplicas") if role.name == "Worker" else None
    return max(role.replicas or 0, most or 0)


def is_on_shared_storage(claim: Known, project: Project) -> bool:
    """True if the storage class or the volume of a claim can be mounted on any number of nodes at a time."""
    spec = mapping(claim.tree, "spec")
    words = text(spec, "storageClassName").lower()
    volume = text(spec, "volumeName")
    for one in everywhere(project, "PersistentVolume", volume) if volume else ():
        source = mapping(one.tree, "spec")
        if not _SHARED_SOURCES.isdisjoint(source):
            return True
        words += text(source, "csi", "driver").lower()
    return any(word in words for word in _SHARED)


def is_attached_to_node(claim: Known, project: Project) -> bool:
    """True if a node attaches the volume of a claim, as a disk, and pods may run on others.

    A local volume binds its pods to its node, and a shared one has no node. The default class of a cluster may be
    either, so a claim without a class or a volume needs a default class in its folder, above or below it. A class
    counts if its name or its provisioner tells of disks.
    """
    spec, modes = mapping(claim.tree, "spec"), access_modes(claim)
    volume = text(spec, "volumeName")
    local = any("local" in mapping(one.tree, "spec") for one in everywhere(project, "PersistentVolume", volume))
    if len(modes) != 1 or not modes <= ONE_NODE or local or is_on_shared_storage(claim, project):
        return False
    name = text(spec, "storageClassName").lower()
    if name or volume:
        made = [text(one.tree, "provisioner").lower() for one in everywhere(project, "StorageClass", name)]
        of_disks = bool(volume) or any(word in one for one in (name, *made) for word in _DISKS)
        return of_disks and not any(word in one for one in (name, *made) for word in _LOCAL)
    near = [words for at, words in _defaults.of(project) if distance(at, claim.at) <= NESTED]
    return bool(near) and not any(word in one for one in near for word in (*_LOCAL, *_SHARED))


def _find_defaults(project: Project) -> list[tuple[Place, str]]:
    """Returns the places of the default classes, with their names and provisioners."""
    found = [
        (one.at, f"{one.name} {text(one.tree, 'provisioner')}".lower())
        for one in project.of_kind("StorageClass")
        if str(mapping(one.tree, "metadata", "annotations").get(_DEFAULT_CLASS)) == "true"
    ]
    return found[:_MOST]


def is_claim_read_only(volume: Volume) -> bool:
    """True if the pod mounts the claim read-only in all of its containers."""
    return volume.body.get("readOnly") is True


def mounts_claims(pod: Pod) -> bool:
    """True if a pod has a volume with a claim."""
    return any(volume.kind == "persistentVolumeClaim" for volume in pod.volumes)


_defaults: LastIndex[Project, list[tuple[Place, str]]] = LastIndex(_find_defaults)
