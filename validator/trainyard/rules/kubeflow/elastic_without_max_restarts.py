"""An elastic job without maxRestarts ends with the first lost pod: torchrun defaults to no restart.

When a pod is lost, the processes of the others fail in their next collective. Their agents may then form a smaller
group, but each such attempt uses one of `max_restarts`. The operator passes `PET_MAX_RESTARTS` only when
`elasticPolicy.maxRestarts` is set, and torchrun's own default is 0: every agent gives up, every container exits with
an error, and the whole job crashes instead of shrinking. Pods that join a healthy group use no restart.

Set `elasticPolicy.maxRestarts` somewhat above the number of pods that may be lost in one run, or pass `--max-restarts`
to torchrun. Also set `TORCH_DISABLE_SHARE_RDZV_TCP_STORE` to `"1"` in `env`: without it, restarted processes find the
addresses of those that have ended, and most restarts fail (TD013).
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import elastic_range
from trainyard.analysis.launchers.torchrun import torchrun_commands
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/pytorch/elastic.go: Generate",
        "pytorch torch/distributed/run.py: --max-restarts defaults to 0; "
        "torch/distributed/elastic/agent/server/api.py: _invoke_run",
    ),
    needs=("elasticPolicy",),
)
def elastic_without_max_restarts(run: Run) -> Iterator[Problem]:
    """Report an elastic range without restarts for torchrun to use it."""
    if run.kind != "PyTorchJob" or run.elastic is None or run.elastic.get("maxRestarts") is not None:
        return
    worker = run.role("Worker")
    container = worker.container if worker is not None else None
    low, high = elastic_range(run)
    if container is None or low is None or high is None or low >= high:
        return
    if container.setting("PET_MAX_RESTARTS") is not None:
        return
    if any(launch.has("--max-restarts") for launch in torchrun_commands(container)):
        return
    yield Problem(
        run.at.child("spec", "elasticPolicy").key(),
        f"the job may shrink to {low} pods, but torchrun has 0 restarts: the first lost pod ends the job",
        "write elasticPolicy.maxRestarts, and set TORCH_DISABLE_SHARE_RDZV_TCP_STORE to 1",
    )
