"""One role of a run has a volume at /dev/shm and another has none, so its pods fail with 64 MiB.

Every replica type has its own pod template, and a volume that is written in one of them is not in the others. The run
starts, the pods with the volume train, and those without it end with `Bus error` or `No space left on device` in
`/dev/shm` when their data loaders or NCCL fill the 64 MiB that the runtime gives; then all others wait for them until
their timeout.

Roles in which several GPU processes share a pod are found by `shm-default-64mi` already.

Mount the same volume in every role that trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.aspects.known import pods_are_whole
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="SH007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go: ReplicaSpec has its own template",
    ),
    fix="safe",
)
def shm_missing_on_role(role: Role, context: Context) -> Iterator[Problem]:
    """A role without the /dev/shm that others have."""
    run = context.run
    if run is None or not pods_are_whole(run):
        return
    bare = [one for one in shared_memory.accelerated(role) if shared_memory.is_default(role.pod, one)]
    for container in bare if bare and shared_memory.others_mount(run, role) else ():
        if shared_memory.processes(run, role, container) == 1:
            yield Problem(
                container.at.child("volumeMounts").key(),
                f"pods of {role.name} have a /dev/shm of 64 MiB, those of another role have a volume there",
                f"mount the volume at /dev/shm in {role.name} too",
                shared_memory.mounting(role.pod, container),
            )
