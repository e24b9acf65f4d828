"""Pods of a job on several nodes share a claim that only one node can mount.

A claim with the access mode `ReadWriteOnce` is attached to one node. Pods on other nodes stay in `ContainerCreating`
with the event `Multi-Attach error for volume`, and the rendezvous waits for them until its timeout, with the GPUs of
the others held.

The rule looks at jobs and servers with several GPU pods whose claim is in the files. It ignores storage that any number
of nodes mount whatever the claim asks for, such as NFS, by the name of the storage class or the source of the volume.
Services of a DynamoGraphDeployment count with their `replicas` and `multinode.nodeCount`.

Request `ReadWriteMany` from a storage class that supports it (a shared file system), or `ReadOnlyMany` for data that
pods only read. If each pod needs a volume of its own, use an ephemeral volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import access_modes, is_on_shared_storage, shared_claims
from trainyard.analysis.objects.known_objects import fitting
from trainyard.analysis.resources.devices import wants_gpu
from trainyard.document.lookup import integer, items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Project, Workload

_ONE_NODE = {"ReadWriteOnce"}


@rule(
    code="RF006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: ReadWriteOnce is read-write by a single node",
        "ai-dynamo/dynamo pull 4964",
        "kubernetes v1.34 pkg/controller/volume/attachdetach/reconciler: Multi-Attach error",
    ),
    needs=("PersistentVolumeClaim",),
)
def claim_on_several_nodes(run: Workload, context: Context) -> Iterator[Problem]:
    """Claims of one node that pods of several nodes mount."""
    if run.kind == "DynamoGraphDeployment":
        yield from _of_dynamo(run, context.project)
    for shared in shared_claims(run, context.project):
        if shared.modes != _ONE_NODE or not wants_gpu(shared.role.pod):
            continue
        if not is_on_shared_storage(shared.claim, context.project):
            yield Problem(
                shared.at,
                f"{shared.pods} pods mount claim `{shared.claim.name}`, which is ReadWriteOnce: pods on a second node "
                "fail with `Multi-Attach error`",
                "request ReadWriteMany from a storage class that supports it",
                related=((shared.modes_at, "the access modes"),),
            )


def _of_dynamo(run: Workload, project: Project) -> Iterator[Problem]:
    """Yields the claims that the services of a graph mount by name."""
    for name, service in mapping(run.spec, "services").items():
        replicas, nodes = integer(mapping(service), "replicas"), integer(mapping(service, "multinode"), "nodeCount")
        pods = (1 if replicas is None else replicas) * (nodes or 1)
        for index, mount in enumerate(items(service, "volumeMounts")):
            at = run.at.child("spec", "services", name, "volumeMounts", index, "name")
            found = fitting(project, "PersistentVolumeClaim", text(mount, "name"), run.namespace, at)
            claim = found[0] if len(found) == 1 else None
            if pods < 2 or claim is None or access_modes(claim) != _ONE_NODE or is_on_shared_storage(claim, project):
                continue
            yield Problem(
                at,
                f"{pods} pods mount claim `{claim.name}`, which is ReadWriteOnce: pods on a second node fail with "
                "`Multi-Attach error`",
                "request ReadWriteMany from a storage class that supports it",
                related=((claim.at.child("spec", "accessModes"), "the access modes"),),
            )
