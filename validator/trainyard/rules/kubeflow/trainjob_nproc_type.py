"""numProcPerNode is written in a form that the TrainJob's API does not take.

Up to Kubeflow Trainer 2.1 the field is a number or one of the words `auto`, `cpu` and `gpu`; a quoted number is a
word too and is refused by the webhook of the torch runtime. Since 2.2 it is a number and nothing else, and a job that
leaves it out gets one process for each GPU. The same release took `numProcPerNode` out of a runtime's
`mlPolicy.torch`: there it is an unknown field now.

A quoted number fits no release and is always reported; words and the runtime's field only for a target of 2.2 or
newer.

Write the number without quotes, or remove the field where `auto` is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.facts.kubeflow import RUNTIMES, before, since
from validator.fields import decimal, mapping
from validator.model import Run
from validator.rule import Context, Edit, Problem, Remove, SetValue, rule
from validator.source import Place

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
    """A number of processes of a type that the release does not take."""
    version = context.target.trainer
    trainer = mapping(run.spec, "trainer")
    if run.kind == "TrainJob" and "numProcPerNode" in trainer:
        yield from _own(trainer["numProcPerNode"], run.at.child("spec", "trainer", "numProcPerNode"), version)
    if run.kind in RUNTIMES and since(version, (2, 2)) and "numProcPerNode" in mapping(run.spec, "mlPolicy", "torch"):
        place = run.at.child("spec", "mlPolicy", "torch", "numProcPerNode")
        yield Problem(
            place.key(),
            "mlPolicy.torch has no numProcPerNode since Kubeflow Trainer 2.2",
            "remove it, and write trainer.numProcPerNode in the TrainJob",
            (Remove(place),),
        )


def _own(value: Any, at: Place, version: tuple[int, ...] | None) -> Iterator[Problem]:
    if not isinstance(value, str):
        return
    number = decimal(value)
    edit: Edit = SetValue(at, number) if number is not None else Remove(at)
    if number is not None:
        yield Problem(at, f"numProcPerNode is the word `{value}` here, not the number", "drop the quotes", (edit,))
    elif since(version, (2, 2)):
        edits = (edit,) if value in ("auto", "gpu") else ()
        yield Problem(
            at,
            f"numProcPerNode takes numbers only since Kubeflow Trainer 2.2, and not `{value}`",
            "remove it for one process for each GPU, or write the number",
            edits,
        )
    elif before(version, (2, 2)) and value not in WORDS:
        yield Problem(at, f"numProcPerNode takes a number, auto, cpu or gpu, and not `{value}`", "write one of these")
