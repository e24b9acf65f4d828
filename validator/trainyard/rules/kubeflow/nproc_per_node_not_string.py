"""nprocPerNode is a string, so the API server rejects an unquoted number.

The field takes `auto`, `gpu`, `cpu` or a number, so its type is string, and YAML reads an unquoted `8` as an integer.
The API server answers that the value must be of type string. In a chart, the usual cause is `{{ .Values.nprocPerNode
}}` without `quote`: it works with `auto` and fails with the first number. The old field `elasticPolicy.nProcPerNode`,
with a capital P, is an integer and takes no quotes.

A HyperPodPyTorchJob has the same field with the same type.

Put quotes around the number.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF030",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/pytorch_types.go: NprocPerNode is *string; "
        "manifests/base/crds/kubeflow.org_pytorchjobs.yaml",
        "aws/sagemaker-hyperpod-cli hyperpod_pytorch_job_unified_config.py: nprocPerNode is a string",
    ),
    fix="safe",
    needs=("nprocPerNode",),
)
def nproc_per_node_not_string(run: Run) -> Iterator[Problem]:
    """Report a number of processes without quotes."""
    count = integer(run.spec, "nprocPerNode")
    if run.kind in ("PyTorchJob", "HyperPodPyTorchJob") and count is not None:
        at = run.at.child("spec", "nprocPerNode")
        yield Problem(
            at,
            f"nprocPerNode must be a string, not the number {count}",
            f'write "{count}"',
            (SetValue(at, str(count)),),
        )
