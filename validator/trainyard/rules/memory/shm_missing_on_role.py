"""One role of a run has a volume at /dev/shm and another has none, so the pods of the other fail.

Every replica type has its own pod template, and a volume in one of them is not in the others. The run starts, and the
pods with the volume train. The others end with `Bus error` or `No space left on device` in `/dev/shm` when their data
loaders or NCCL fill the runtime's default of 64 MiB. All other pods then wait for them until they time out.

`shm-default-64mi` reports roles in which several GPU processes share a pod.

Mount the same volume in every role that trains.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role


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
    """Report a role without the volume at /dev/shm that another role has."""
    run = context.run
    if run is None or not has_all_pods(run):
        return
    bare = [one for one in shared_memory.accelerated_containers(role) if shared_memory.has_default_size(run, role, one)]
    for container in bare if bare and shared_memory.others_mount(run, role) else ():
        if shared_memory.process_count(run, role, container) == 1:
            yield Problem(
                container.at.child("volumeMounts").key(),
                f"pods of {role.name} have the default /dev/shm of 64 MiB, but another role mounts a volume there",
                f"mount the volume at /dev/shm in {role.name} too",
                shared_memory.mount_edits(role.pod, container),
            )
