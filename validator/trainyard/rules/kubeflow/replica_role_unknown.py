"""The TFJob, PaddleJob, XGBoostJob or JAXJob has a role that its framework does not have.

The roles of a TFJob are Chief (or Master), Worker, PS and Evaluator. Those of a PaddleJob and of an XGBoostJob are
Master and Worker, and a JAXJob has Workers alone. The webhook of the training operator refuses another role, except in
a TFJob: there the operator starts the pods and writes the role into `TF_CONFIG`, where TensorFlow refuses it.

Other rules check the roles of a PyTorchJob and of an MPIJob. This rule ignores case, because older operators do.

Write the name of a role of this kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.jobs.kubeflow import REPLICA_FIELDS
from trainyard.model.run import Run

ROLES = {
    "TFJob": ("Chief", "Master", "Worker", "PS", "Evaluator"),
    "PaddleJob": ("Master", "Worker"),
    "XGBoostJob": ("Master", "Worker"),
    "JAXJob": ("Worker",),
}
_ALIKE = 0.6


@rule(
    code="KF101",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/webhooks: paddlepaddle, xgboost and jax, the valid replica types",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/tensorflow/tensorflow.go: genClusterSpec",
        "tensorflow v2.20.0 tensorflow/python/distribute/multi_worker_util.py: _validate_cluster_spec",
    ),
    needs=tuple(ROLES),
)
def replica_role_unknown(run: Run) -> Iterator[Problem]:
    """Report roles that the framework of a job does not have."""
    roles = ROLES.get(run.kind, ())
    field = REPLICA_FIELDS[run.kind][0] if roles else ""
    known = {role.lower(): role for role in roles}
    for name in mapping(run.spec, field) if roles else ():
        word = str(name)
        if word.lower() in known or "{" in word or "$" in word:
            continue
        near = closest_match(word.lower(), known, _ALIKE)
        yield Problem(
            run.at.child("spec", field, name).key(),
            f"a {run.kind} has no role `{word}`",
            f"write `{known[near]}`" if near is not None else f"its roles are {', '.join(roles)}",
        )
