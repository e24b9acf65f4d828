"""The runtime names two frameworks in mlPolicy, and the API server refuses it: only one of them can shape the pods.

Each of `torch`, `mpi`, `jax`, `xgboost` and `flux` writes its own variables, ports and hostfile into the pods. A rule
in the schema of TrainingRuntime and ClusterTrainingRuntime lets one through at most, and that holds for an empty
`torch: {}` too. Releases before 2.2 know `torch` and `mpi` only and drop the others as unknown fields. It happens
when one runtime is made of two examples; TrainJobs that refer to it then fail because their runtime does not exist.

Keep the policy of the framework that the image runs, and write a second runtime for the other one. `numNodes` is no
policy and stays.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.kubeflow import RUNTIMES
from validator.fields import mapping
from validator.model import Run
from validator.rule import Problem, rule

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
    """Two frameworks in one runtime."""
    if run.kind not in RUNTIMES:
        return
    policy = mapping(run.spec, "mlPolicy")
    at = run.at.child("spec", "mlPolicy")
    first, *others = [name for name in policy if name in POLICIES and policy[name] is not None] or [""]
    for name in others:
        yield Problem(
            at.child(name).key(),
            f"mlPolicy has {name} beside {first}, and one policy is allowed",
            f"keep one of them; a second runtime can have {name}",
            related=((at.child(first).key(), "the other policy"),),
        )
