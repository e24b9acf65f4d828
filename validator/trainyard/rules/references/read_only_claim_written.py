"""A container writes to a claim that is requested for reading only.

A claim with the single access mode `ReadOnlyMany` is for data that is there already. Most drivers mount such a volume
read-only, and the program fails with `Read-only file system`; many storage classes refuse to create one. A new volume
of this kind is empty, and nothing can fill it.

The rule looks at copy and download commands of containers and init containers (`aws s3 sync`, `gsutil cp`, `wget -P`,
`git clone`, `hf download --local-dir` ...) and at options of training commands, such as `--output-dir`.

Request `ReadWriteMany`, or fill the volume by another job through a claim of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import access_modes, claim_of, mounts_claims
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.pods.writes import written_paths
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container


@rule(
    code="RF008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: ReadOnlyMany is read-only by many nodes",
        "container-storage-interface spec.md: VolumeCapability.AccessMode MULTI_NODE_READER_ONLY",
    ),
    needs=("ReadOnlyMany",),
)
def read_only_claim_written(container: Container, context: Context) -> Iterator[Problem]:
    """Writes to a claim that is ReadOnlyMany."""
    pod, run = context.pod, context.run
    if pod is None or run is None or not mounts_claims(pod):
        return
    for written in written_paths(container):
        mount = mount_of(container, written.path)
        volume = pod.volume(mount.volume) if mount is not None else None
        claim = claim_of(volume, run, context.project) if volume is not None else None
        if mount is None or claim is None or mount.read_only or access_modes(claim) != {"ReadOnlyMany"}:
            continue
        yield Problem(
            written.at,
            f"`{written.by}` writes to `{written.path}`, which is on claim `{claim.name}`: the claim is ReadOnlyMany",
            "request ReadWriteMany, or fill the volume through another claim",
            related=((claim.at.child("spec", "accessModes"), "the access modes"),),
        )
