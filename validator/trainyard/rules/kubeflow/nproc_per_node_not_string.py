"""nprocPerNode of a PyTorchJob is a string, and a bare number is refused.

The field takes `auto`, `gpu`, `cpu` or a number, so its type is string, and YAML makes an integer of `8` without
quotes. The API server answers that the value must be of type string. Charts fall into the trap when `{{
.Values.nprocPerNode }}` is rendered without `quote`: it works with `auto` and fails with the first number. The old
field `elasticPolicy.nProcPerNode`, with a capital P, is an integer and takes no quotes.

Write the number in quotes.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.fields import whole
from validator.model import Run
from validator.rule import Problem, SetValue, rule


@rule(
    code="KF030",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/pytorch_types.go: NprocPerNode is *string; "
        "manifests/base/crds/kubeflow.org_pytorchjobs.yaml",
    ),
    fix="safe",
    needs=("PyTorchJob",),
)
def nproc_per_node_not_string(run: Run) -> Iterator[Problem]:
    """A number of processes without quotes."""
    count = whole(run.spec, "nprocPerNode")
    if run.kind == "PyTorchJob" and count is not None:
        at = run.at.child("spec", "nprocPerNode")
        yield Problem(
            at,
            f"nprocPerNode is the number {count}, and a string is wanted",
            f'write "{count}"',
            (SetValue(at, str(count)),),
        )
