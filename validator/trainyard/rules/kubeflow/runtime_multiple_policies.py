"""The runtime's mlPolicy names two frameworks, but the API server allows only one.

Each of `torch`, `mpi`, `jax`, `xgboost` and `flux` writes its own variables, ports and hostfile into the pods. A
validation rule in the schema of TrainingRuntime and ClusterTrainingRuntime allows at most one of them, and an empty
`torch: {}` counts. Releases before 2.2 know only `torch` and `mpi` and drop the others as unknown fields. The usual
cause is one runtime merged from two examples; TrainJobs that refer to it then fail because their runtime does not
exist.

Keep the policy of the framework that the image runs, and write a second runtime for the other one. `numNodes` is not a
policy and stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Run

POLICIES = ("torch", "mpi", "jax", "xgboost", "flux")


@rule(
    code="KF016",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.1.0 and v2.3.0 pkg/apis/trainer/v1alpha1/trainingruntime_types.go: rule on MLPolicy",
    ),
    needs=("TrainingRuntime",),
)
def runtime_multiple_policies(run: Run) -> Iterator[Problem]:
    """Report two frameworks in one runtime."""
    if run.kind not in RUNTIMES:
        return
    policy = mapping(run.spec, "mlPolicy")
    at = run.at.child("spec", "mlPolicy")
    first, *others = [name for name in policy if name in POLICIES and policy[name] is not None] or [""]
    for name in others:
        yield Problem(
            at.child(name).key(),
            f"mlPolicy has both {first} and {name}; only one is allowed",
            f"keep one of them, and write a second runtime for {name}",
            related=((at.child(first).key(), "the other policy"),),
        )
