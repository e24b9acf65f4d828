"""This Kueue never admits a TrainJob of this Kubeflow Trainer.

Kueue writes the nodes of a flavor into the TrainJob. Since 0.17 it does so in `runtimePatches`, which Trainer has since
2.2. The API server drops the field of a TrainJob of an older Trainer, so Kueue does not find it again. The Workload
stays pending, and the log of Kueue says `kueue runtime patch not found`.

The versions are those of the controllers' images in the files, otherwise those of `--target kueue=0.19` and
`--target trainer=2.1`. The rule applies if both are known. [Compatibility](../compatibility.md) lists the pairs.

Upgrade Kubeflow Trainer, or stay with Kueue 0.16.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.controllers import kueue_of, trainer_of
from trainyard.analysis.jobs.kubeflow import metadata_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.versions import before, since
from trainyard.model.run import Run


@rule(
    code="QU013",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/kubernetes-sigs/kueue/issues/11931: Kueue 0.17.3 with Trainer 2.1.0",
        "github.com/kubernetes-sigs/kueue/issues/14722: never admitted by Kueue 0.17 and newer",
        "kubernetes-sigs/kueue v0.17.0 pkg/controller/jobs/trainjob/trainjob_controller.go: RunWithPodSetsInfo",
    ),
    needs=("TrainJob",),
)
def kueue_never_admits_trainjob(run: Run, context: Context) -> Iterator[Problem]:
    """Report a queued TrainJob of Trainer 2.1 or older for Kueue 0.17 or newer."""
    if run.kind != "TrainJob" or QUEUE not in mapping(metadata_of(run), "labels"):
        return
    kueue = kueue_of(context.project, context.target.kueue)
    trainer = trainer_of(context.project, context.target.trainer)
    if since(kueue, (0, 17)) and since(trainer, (2, 0)) and before(trainer, (2, 2)):
        yield Problem(
            run.at.child("metadata", "labels", QUEUE),
            "Kueue 0.17 and newer never admit a TrainJob of Kubeflow Trainer 2.1 and older",
            "upgrade Kubeflow Trainer to 2.3, or stay with Kueue 0.16",
        )
