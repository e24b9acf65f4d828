"""Several pods of a job mount a claim that only one pod of the cluster may use.

A claim with the access mode `ReadWriteOncePod` is for a single pod. The scheduler leaves every further pod in `Pending`
(`node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode`), and the job never
starts.

Request `ReadWriteMany` from a storage class that has it, or give each pod an ephemeral volume.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.claims import shared_claims
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Run


@rule(
    code="RF007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes.io/docs/concepts/storage/persistent-volumes: ReadWriteOncePod is read-write by a single pod",
        "kubernetes v1.34 pkg/scheduler/framework/plugins/volumerestrictions: ErrReasonReadWriteOncePodConflict",
    ),
    needs=("ReadWriteOncePod",),
)
def claim_of_one_pod(run: Run, context: Context) -> Iterator[Problem]:
    """Claims of one pod that several pods mount."""
    for shared in shared_claims(run, context.project):
        if "ReadWriteOncePod" in shared.modes:
            yield Problem(
                shared.at,
                f"{shared.pods} pods mount claim `{shared.claim.name}`, which is ReadWriteOncePod: all but one stay "
                "Pending",
                "request ReadWriteMany",
                related=((shared.modes_at, "the access modes"),),
            )
