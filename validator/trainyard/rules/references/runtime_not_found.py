"""A TrainJob refers to a runtime that no file defines and that Kubeflow Trainer does not ship.

The webhook of the trainer refuses a TrainJob whose runtime does not exist: `specified clusterTrainingRuntime must be
created before the TrainJob is created`. Trainer ships `torch-distributed`, `deepspeed-distributed`, `mlx-distributed`,
`jax-distributed`, `xgboost-distributed` and several `torchtune-...`; some of them exist in some releases only, which
the rule checks if `--target trainer` gives the version.

A cluster usually has runtimes of its own, so the rule is off by default. Without its runtime, a TrainJob is checked as
far as its own fields go: lint both files together.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.objects.known_objects import is_known, names
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.facts.jobs.training_runtimes import SHIPPED, ShippedRuntime, shipped_runtime
from trainyard.model.run import Run


@rule(
    code="RF010",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=(
        "kubeflow/trainer v2.0.0 to v2.3.0 manifests/base/runtimes",
        "kubeflow/trainer v2.1.0 pkg/runtime/core/clustertrainingruntime.go: ValidateObjects",
    ),
    needs=("runtimeRef",),
)
def runtime_not_found(run: Run, context: Context) -> Iterator[Problem]:
    """Runtimes that nobody knows."""
    name = text(run.spec, "runtimeRef", "name")
    kind = text(run.spec, "runtimeRef", "kind") or "ClusterTrainingRuntime"
    if run.kind != "TrainJob" or not name or run.runtime is not None:
        return
    at = run.at.child("spec", "runtimeRef", "name")
    shipped, target = shipped_runtime(run.spec), context.target.trainer
    if shipped is None and not is_known(context.project, kind, name):
        known = names(context.project, kind) | (SHIPPED.keys() if kind == "ClusterTrainingRuntime" else set())
        near = closest_match(name, known, 0.6)
        help_ = f"did you mean `{near}`?" if near is not None else "add its file to the command line"
        yield Problem(at, f"no file defines the {kind} `{name}`, and Kubeflow Trainer does not ship it", help_)
    elif shipped is not None and target is not None and not _has(target[:2], shipped):
        last = f" to {shipped.last[0]}.{shipped.last[1]}" if shipped.last is not None else ""
        yield Problem(
            at,
            f"Kubeflow Trainer {'.'.join(map(str, target[:2]))} does not ship the runtime `{name}`",
            f"releases {shipped.first[0]}.{shipped.first[1]}{last or ' and later'} have it",
        )


def _has(release: tuple[int, ...], shipped: ShippedRuntime) -> bool:
    return len(release) < 2 or (shipped.first <= release and (shipped.last is None or release <= shipped.last))
