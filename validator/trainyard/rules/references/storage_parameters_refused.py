"""The driver refuses the parameters of the StorageClass, so the claims of the class stay Pending, and their pods wait.

The API server takes any parameters of a class, and the driver reads them when it creates the first volume. A file
system of FSx for Lustre of a persistent type needs `perUnitStorageThroughput`, and its type takes few values. A share
of Azure Files for NFS needs a premium account: older releases of the driver create one in silence, of another
redundancy and price than the class says, and newer ones refuse `Standard_`.

Write the parameter, or another value of it. Parameters of a class cannot be changed: delete it, and create it again.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_FSX, _AZURE = "fsx.csi.aws.com", ("file.csi.azure.com", "kubernetes.io/azure-file")
_THROUGHPUT = "perUnitStorageThroughput"
# The throughput of each type of a file system, by the type of its storage, which is SSD by default.
_OF_TYPE = {
    ("PERSISTENT_1", "SSD"): ("50", "100", "200"),
    ("PERSISTENT_1", "HDD"): ("12", "40"),
    ("PERSISTENT_2", "SSD"): ("125", "250", "500", "1000"),
}


@rule(
    code="RF067",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "docs.aws.amazon.com/fsx/latest/APIReference CreateFileSystemLustreConfiguration: PerUnitStorageThroughput",
        "kubernetes-sigs/aws-fsx-csi-driver v1.9.0 pkg/cloud/cloud.go: CreateFileSystem adds no default",
        "kubernetes-sigs/azurefile-csi-driver main 7b5ae18e pkg/azurefile/controllerserver.go: CreateVolume",
        "github.com/kubernetes-sigs/aws-fsx-csi-driver pull 232, kubernetes-sigs/azurefile-csi-driver issue 1480",
    ),
    needs=(_FSX, *_AZURE),
)
def storage_parameters_refused(resource: Resource) -> Iterator[Problem]:
    """Report classes of FSx and Azure Files whose volumes cannot be created."""
    if resource.kind != "StorageClass":
        return
    given, at = mapping(resource.tree, "parameters"), resource.at.child("parameters")
    driver = text(resource.tree, "provisioner")
    if driver == _FSX:
        kind, storage = text(given, "deploymentType"), text(given, "storageType") or "SSD"
        values, own = _OF_TYPE.get((kind, storage)), text(given, _THROUGHPUT)
        listed = ", ".join(values or ())
        if values and _THROUGHPUT not in given:
            yield Problem(
                at.child("deploymentType"),
                f"the type {kind} needs `{_THROUGHPUT}`, which has no default: no volume is created",
                f'add `{_THROUGHPUT}: "{values[0]}"`, or another of {listed}',
            )
        elif values and own.isdecimal() and own not in values:
            yield Problem(
                at.child(_THROUGHPUT),
                f"the type {kind} with {storage} has no throughput of {own}: no volume is created",
                f"write one of {listed}",
            )
    elif driver in _AZURE:
        names = {str(name).lower(): name for name in given}
        is_nfs = any(text(given, names.get(name, "")).lower() == "nfs" for name in ("protocol", "fstype"))
        for name in ("skuname", "storageaccounttype"):
            sku = text(given, names.get(name, ""))
            if is_nfs and sku.lower().startswith("standard_"):
                yield Problem(
                    at.child(names[name]),
                    f"shares for NFS exist in premium accounts alone, and the class says {sku}",
                    "write `Premium_LRS` or `Premium_ZRS`, or the protocol `smb`",
                )
