"""The volume is a bucket of S3 whose files nobody may overwrite or delete, but the training does so.

Mountpoint for Amazon S3 refuses to open an existing file for writing without the mount option `allow-overwrite`, and to
delete one without `allow-delete`: "Operation not permitted". A training writes files such as `latest`,
`trainer_state.json` or the logs again, and `--save_total_limit` deletes old checkpoints. The first save works, and a
later one ends the run.

The rule looks at options of training commands such as `--output-dir`, and follows the claim to its volume.

Add both to `mountOptions` of the PersistentVolume. No file of a bucket can be changed in place or renamed, so save to
another storage if the framework does that.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import claim_of, mounts_claims
from trainyard.analysis.objects.known_objects import Known, everywhere
from trainyard.analysis.pods.mounts import mount_of
from trainyard.analysis.pods.writes import OPTIONS, written_paths
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container

DRIVER = "s3.csi.aws.com"
OVERWRITE, DELETE = "allow-overwrite", "allow-delete"


@rule(
    code="RF051",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "awslabs/mountpoint-s3 doc/SEMANTICS.md: --allow-overwrite and --allow-delete",
        "awslabs/mountpoint-s3-csi-driver docs/CONFIGURATION.md: mountOptions",
        "github.com/awslabs/mountpoint-s3 pull 703",
    ),
    needs=(DRIVER,),
)
def bucket_refuses_overwrites(container: Container, context: Context) -> Iterator[Problem]:
    """Report buckets on which a training cannot write a file again."""
    pod, run = context.pod, context.run
    if pod is None or run is None or not mounts_claims(pod):
        return
    for written in written_paths(container):
        mount = mount_of(container, written.path)
        volume = pod.volume(mount.volume) if mount is not None else None
        claim = claim_of(volume, run, context.project) if volume is not None else None
        name = text(claim.tree, "spec", "volumeName") if claim is not None else ""
        found = everywhere(context.project, "PersistentVolume", name) if name else []
        if len(found) != 1 or written.by not in OPTIONS or text(found[0].tree, "spec", "csi", "driver") != DRIVER:
            continue
        missing = _missing(found[0], container)
        if missing:
            spec = found[0].at.child("spec")
            is_told = "mountOptions" in mapping(found[0].tree, "spec")
            yield Problem(
                spec.child("mountOptions").key() if is_told else spec.child("csi", "driver"),
                f"the bucket is mounted without {' and '.join(f'`{one}`' for one in missing)}, and `{written.by}` "
                f"saves to `{written.path}` on it: a later save is refused",
                f"add {' and '.join(f'`{one}`' for one in missing)} to `mountOptions`",
                related=((written.at, "what is saved"),),
            )
            return


def _missing(volume: Known, container: Container) -> list[str]:
    options = {str(option).lstrip("-") for option in items(volume.tree, "spec", "mountOptions")}
    deletes = any(command.has("--save-total-limit") for command in container.commands)
    return [one for one in (OVERWRITE, DELETE) if one not in options and (one == OVERWRITE or deletes)]
