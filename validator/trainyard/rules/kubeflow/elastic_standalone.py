"""elasticPolicy.standalone makes torchrun crash in every pod before the training starts.

For `standalone: true` the operator sets `PET_STANDALONE` to the empty string. torchrun takes the variable for a
number, and `int("")` raises a ValueError while the command line is still being read: each container ends with a
traceback, restarts, and does it again. Were it read, it would be wrong all the same: standalone runs a rendezvous
inside each pod, so the Workers would train alone and side by side.

`standalone: false` sets nothing and is left alone.

Remove the field: the rendezvous on the first Worker serves a single pod as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.model import Run
from validator.rule import Problem, Remove, rule


@rule(
    code="KF027",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/elastic.go: Generate sets an empty PET_STANDALONE",
        "pytorch torch/distributed/argparse_util.py: check_env reads bool(int(...))",
    ),
    fix="safe",
    needs=("elasticPolicy",),
)
def elastic_standalone(run: Run) -> Iterator[Problem]:
    """A standalone rendezvous in an elastic job."""
    if run.kind == "PyTorchJob" and run.elastic is not None and run.elastic.get("standalone") is True:
        at = run.at.child("spec", "elasticPolicy", "standalone")
        yield Problem(
            at,
            "the operator sets PET_STANDALONE to nothing for it, and torchrun fails with `invalid literal for int()`",
            "remove it",
            (Remove(at),),
        )
