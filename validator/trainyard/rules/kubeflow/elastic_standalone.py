"""elasticPolicy.standalone makes torchrun crash in every pod before the training starts.

For `standalone: true` the operator sets `PET_STANDALONE` to the empty string. torchrun parses the variable as a
number, and `int("")` raises a ValueError while it reads the command line: each container ends with a traceback,
restarts, and crashes again. The setting would be wrong even without the crash: standalone runs a rendezvous inside
each pod, so each Worker would train alone.

`standalone: false` sets nothing and is not reported.

Remove the field: the rendezvous on the first Worker also works for a single pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Remove
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


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
    """Report a standalone rendezvous in an elastic job."""
    if run.kind == "PyTorchJob" and run.elastic is not None and run.elastic.get("standalone") is True:
        at = run.at.child("spec", "elasticPolicy", "standalone")
        yield Problem(
            at,
            "the operator sets PET_STANDALONE to an empty string, and torchrun fails with `invalid literal for int()`",
            "remove it",
            (Remove(at),),
        )
