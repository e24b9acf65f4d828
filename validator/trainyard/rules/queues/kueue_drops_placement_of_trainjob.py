"""This Kueue starts a TrainJob of this Kubeflow Trainer on any node.

Kueue writes the nodes of a flavor, and those of a topology, into the TrainJob. Up to 0.16 it does so in
`podTemplateOverrides`, which Trainer 2.2 replaced with `runtimePatches`. The API server drops the field, so the pods
get neither the node selector nor the tolerations of the flavor. The TrainJob may then start on nodes of another flavor,
while Kueue counts it against the quota of this one.

The versions are those of the controllers' images in the files, otherwise those of `--target kueue=0.16` and
`--target trainer=2.3`. The rule applies if both are known. [Compatibility](../compatibility.md) lists the pairs.

Upgrade Kueue together with Kubeflow Trainer.
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
    code="QU016",
    severity="error",
    confidence="high",
    since="0.1.0",
    inferred=True,
    sources=(
        "kubernetes-sigs/kueue v0.15.0 pkg/controller/jobs/trainjob/trainjob_controller.go: RunWithPodSetsInfo",
        "github.com/kubeflow/trainer/pull/3309: Trainer 2.2 replaces PodTemplateOverrides",
    ),
    needs=(QUEUE,),
)
def kueue_drops_placement_of_trainjob(run: Run, context: Context) -> Iterator[Problem]:
    """Report a queued TrainJob of Trainer 2.2 or newer for Kueue 0.16 or older."""
    if run.kind != "TrainJob" or QUEUE not in mapping(metadata_of(run), "labels"):
        return
    kueue = kueue_of(context.project, context.target.kueue)
    trainer = trainer_of(context.project, context.target.trainer)
    if before(kueue, (0, 17)) and since(trainer, (2, 2)):
        yield Problem(
            run.at.child("metadata", "labels", QUEUE),
            "Kueue 0.16 and older start a TrainJob of Kubeflow Trainer 2.2 and newer without the nodes of its flavor",
            "upgrade Kueue to 0.19",
        )
