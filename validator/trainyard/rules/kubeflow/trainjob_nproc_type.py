"""numProcPerNode has a type that the TrainJob API does not accept.

Up to Kubeflow Trainer 2.1 the field is a number or one of the strings `auto`, `cpu` and `gpu`; a quoted number is a
string too, and the webhook of the torch runtime rejects it. Since 2.2 it is a number only, and a job without it gets
one process per GPU. The same release removed `numProcPerNode` from a runtime's `mlPolicy.torch`, where it is now an
unknown field.

A quoted number is invalid in every release and is always reported; strings and the runtime's field only for a target
of 2.2 or newer.

Write the number without quotes, or remove the field to get the effect of `auto`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Edit, Place, Remove, SetValue
from trainyard.document.lookup import decimal, mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.facts.versions import since
from trainyard.model.run import Run

WORDS = ("auto", "cpu", "gpu")


@rule(
    code="KF014",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.1.0 pkg/runtime/framework/plugins/torch/torch.go: Validate",
        "kubeflow/trainer v2.2.0 pkg/apis/trainer/v1alpha1/trainjob_types.go: Trainer.NumProcPerNode is *int32; "
        "trainingruntime_types.go: TorchMLPolicySource is empty",
    ),
    fix="unsafe",
    needs=("TrainJob", "TrainingRuntime"),
)
def trainjob_nproc_type(run: Run, context: Context) -> Iterator[Problem]:
    """Report a number of processes of a type that the release does not accept."""
    version = context.target.trainer
    trainer = mapping(run.spec, "trainer")
    if run.kind == "TrainJob" and "numProcPerNode" in trainer:
        yield from _own(trainer["numProcPerNode"], run.at.child("spec", "trainer", "numProcPerNode"), version)
    if run.kind in RUNTIMES and since(version, (2, 2)) and "numProcPerNode" in mapping(run.spec, "mlPolicy", "torch"):
        place = run.at.child("spec", "mlPolicy", "torch", "numProcPerNode")
        yield Problem(
            place.key(),
            "Kubeflow Trainer 2.2 removed numProcPerNode of mlPolicy.torch",
            "remove it, and write trainer.numProcPerNode in the TrainJob",
            (Remove(place),),
        )


def _own(value: Any, at: Place, version: tuple[int, ...] | None) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    number = decimal(value)
    edit: Edit = SetValue(at, number) if number is not None else Remove(at)
    if number is not None:
        yield Problem(at, f"numProcPerNode is the string `{value}`, not a number", "remove the quotes", (edit,))
    elif since(version, (2, 2)):
        edits = (edit,) if value in ("auto", "gpu") else ()
        yield Problem(
            at,
            f"numProcPerNode takes only numbers since Kubeflow Trainer 2.2, not `{value}`",
            "remove it for one process per GPU, or write the number",
            edits,
        )
    elif version is not None and value not in WORDS:
        yield Problem(at, f"numProcPerNode takes a number, auto, cpu or gpu, not `{value}`", "write one of these")
