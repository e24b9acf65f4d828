"""DeepSpeed and Accelerate on two nodes with two processes each: they follow the chart's values, and train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.run import Run

PROGRAMS = "/opt/programs"
Results = list[dict[str, Any]]


@pytest.fixture
def train(cluster: Cluster, engine: Engine, namespace: str) -> Callable[..., Results]:
    """Run a program of the trainer's image in two pods to its end, and return its results by rank."""

    def run_to_end(release: str, program: str, **settings: object) -> Results:
        run = Run(cluster, engine, namespace, release)
        given = {
            "nodes": 2,
            "processesPerNode": 2,
            "train.script": f"{PROGRAMS}/{program}.py",
            "train.args": [],
            "checkpoints.enabled": False,
            "resources.limits": {"cpu": "800m", "memory": "2Gi"},
        }
        run.install(settings={**given, **settings})
        outcome = run.follow()
        run.require_success(outcome)
        run.uninstall()
        return sorted(outcome.results, key=lambda result: int(result["rank"]))

    return run_to_end


def same_on_all(results: Results, *names: str) -> list[Any]:
    """Return these fields of the results, which must be equal on all processes."""
    (alike,) = {repr([result[name] for name in names]): [result[name] for name in names] for result in results}.values()
    return alike


def test_deepspeed_partitions_by_the_zero_stage_and_trains_as_without_it(train: Callable[..., Results]) -> None:
    def zero(stage: int) -> Results:
        optimizer = {"type": "AdamW", "params": {"lr": 0.01, "torch_adam": True}}
        settings = {
            "launcher": "deepspeed",
            "deepspeed": {
                "zeroStage": stage,
                "microBatchPerGpu": 4,
                "gradientAccumulation": 2,
                "config": {
                    "optimizer": optimizer,
                    "gradient_clipping": 0.5,
                    # By default parameters this small would not be partitioned.
                    **({"zero_optimization": {"stage3_param_persistence_threshold": 0}} if stage == 3 else {}),
                },
            },
        }
        results = train(f"zero-{stage}", "zero", **settings)
        assert [result["rank"] for result in results] == [0, 1, 2, 3]
        assert same_on_all(results, "size", "backend", "stage", "clipping") == [4, "gloo", stage, 0.5]
        # Batch = 4 rows per process * 2 accumulation steps * 4 processes.
        assert same_on_all(results, "micro", "accumulation", "batch") == [4, 2, 32]
        return results

    second, third = zero(2), zero(3)

    parameters = second[0]["parameters"]
    for results, partitioned in ((second, False), (third, True)):
        shares = [result["parameters_here"] for result in results]
        # The last partition is padded to the size of the others.
        assert parameters <= sum(shares) < parameters + 4 * 4 if partitioned else shares == [parameters] * 4
        states = [result["states_here"] for result in results]
        assert max(states) < parameters / 3
        assert parameters <= sum(states) < parameters + 4 * 4

        losses, alone = same_on_all(results, "losses", "losses_alone")
        assert losses[-1] < losses[0]
        # The sums are computed in another order, so the last digits of 32 bits differ.
        assert losses == pytest.approx(alone, rel=1e-4)
        assert max(result["distance"] for result in results) < 1e-4
    assert second[0]["losses"] == pytest.approx(third[0]["losses"], rel=1e-5)


def test_accelerate_splits_every_batch_and_averages_gradients(
    train: Callable[..., Results],
) -> None:
    # The pods of a worker-only run get their rank from the chart alone.
    settings = {"launcher": "accelerate", "layout": "worker-only", "accelerate.config": {"use_cpu": True}}
    results = train("accelerated", "accelerated", **settings)

    assert [(result["rank"], result["local_rank"]) for result in results] == [(0, 0), (1, 1), (2, 0), (3, 1)]
    expected = [4, "MULTI_CPU", "cpu", "DistributedDataParallel"]
    assert same_on_all(results, "size", "type", "device", "wrapped") == expected
    assert same_on_all(results, "sum", "batches") == [10, 16]
    assert len({result["first_batch"] for result in results}) == 4
    losses, _ = same_on_all(results, "losses", "weights")
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.5 * losses[0]
