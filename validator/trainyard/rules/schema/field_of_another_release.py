"""The field is not in the release of the operator that Trainyard knows; an older or newer one may have it.

The CRDs of Kueue, JobSet, Kubeflow Trainer, the Prometheus operator and the operators for GPUs and networks get new
fields with most releases and lose some. An API server whose CRD lacks the field drops it, and `kubectl apply` refuses
it. This rule reports fields that are neither known nor similar to a known one. It cannot tell a mistake from a field of
another release, and is on with `--pedantic` only.

Fields that resemble a known one, or belong elsewhere in the object, are errors of the rule `field-unknown`.

Compare the field with the CRD of the installed operator: `kubectl explain KIND.spec`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Misfit


@rule(
    code="SM002",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "schemas/crds: the CRDs of the operators, each with the module that it was generated from",
        "kubernetes.io custom resource definitions: field pruning",
    ),
)
def field_of_another_release(misfit: Misfit) -> Iterator[Problem]:
    """Report a field that one release of an operator does not have."""
    if misfit.fault == "other release":
        yield Problem(misfit.at, misfit.message, "compare it with `kubectl explain` on the cluster")
