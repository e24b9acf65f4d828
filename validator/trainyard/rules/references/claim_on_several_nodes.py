"""Pods of a job on several nodes share a claim that only one node can mount.

A claim with the access mode `ReadWriteOnce` is attached to one node. Pods on other nodes stay in `ContainerCreating`
with the event `Multi-Attach error for volume`, and the rendezvous waits for them until its timeout, with the GPUs of
the others held.

The rule looks at jobs and servers with several GPU pods whose claim is in the files. It ignores storage that any number
of nodes mount whatever the claim asks for, such as NFS, by the name of the storage class or the source of the volume.

Request `ReadWriteMany` from a storage class that supports it (a shared file system), or `ReadOnlyMany` for data that
pods only read. If each pod needs a volume of its own, use an ephemeral volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import is_on_shared_storage, shared_claims
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Workload


@rule(
    code="RF006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: ReadWriteOnce is read-write by a single node",
        "kubernetes v1.34 pkg/controller/volume/attachdetach/reconciler: Multi-Attach error",
    ),
    needs=("PersistentVolumeClaim",),
)
def claim_on_several_nodes(run: Workload, context: Context) -> Iterator[Problem]:
    """Claims of one node that pods of several nodes mount."""
    for shared in shared_claims(run, context.project):
        if shared.modes != {"ReadWriteOnce"} or not wants_gpu(shared.role.pod):
            continue
        if not is_on_shared_storage(shared.claim, context.project):
            yield Problem(
                shared.at,
                f"{shared.pods} pods mount claim `{shared.claim.name}`, which is ReadWriteOnce: pods on a second node "
                "fail with `Multi-Attach error`",
                "request ReadWriteMany from a storage class that supports it",
                related=((shared.modes_at, "the access modes"),),
            )
