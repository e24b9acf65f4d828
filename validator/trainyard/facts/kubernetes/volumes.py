"""The sources of a volume, of which it has one.

Source: kubernetes v1.34.4 staging/src/k8s.io/api/core/v1/types.go: VolumeSource.
"""

from __future__ import annotations

SOURCES = frozenset(
    (
        *("awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "configMap", "csi", "downwardAPI"),
        *("emptyDir", "ephemeral", "fc", "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs"),
        *("hostPath", "image", "iscsi", "nfs", "persistentVolumeClaim", "photonPersistentDisk", "portworxVolume"),
        *("projected", "quobyte", "rbd", "scaleIO", "secret", "storageos", "vsphereVolume"),
    )
)
