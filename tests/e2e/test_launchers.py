"""DeepSpeed and Accelerate on two nodes of two processes: they do what the chart's values say, and train."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.engine import Engine
from tests.jobs.run import Run

PROGRAMS = "/opt/programs"
Results = list[dict[str, Any]]


@pytest.fixture
def train(cluster: Cluster, engine: Engine, namespace: str) -> Callable[..., Results]:
    """Run a program of the trainer's image in two pods to its end, and return what its processes say, by rank."""

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


def the_one(results: Results, *names: str) -> list[Any]:
    """What all processes say alike, in the order of the names; fails where they differ."""
    (alike,) = {repr([result[name] for name in names]): [result[name] for name in names] for result in results}.values()
    return alike


def test_deepspeed_partitions_what_the_stage_says_and_trains_as_without_it(train: Callable[..., Results]) -> None:
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
                    # Parameters as small as these would stay whole.
                    **({"zero_optimization": {"stage3_param_persistence_threshold": 0}} if stage == 3 else {}),
                },
            },
        }
        results = train(f"zero-{stage}", "zero", **settings)
        assert [result["rank"] for result in results] == [0, 1, 2, 3]
        assert the_one(results, "size", "backend", "stage", "clipping") == [4, "gloo", stage, 0.5]
        # 4 rows a process, twice, on 2 nodes of 2 processes.
        assert the_one(results, "micro", "accumulation", "batch") == [4, 2, 32]
        return results

    second, third = zero(2), zero(3)

    parameters = second[0]["parameters"]
    for results, partitioned in ((second, False), (third, True)):
        shares = [result["parameters_here"] for result in results]
        # The last share is filled up to the size of the others.
        assert parameters <= sum(shares) < parameters + 4 * 4 if partitioned else shares == [parameters] * 4
        states = [result["states_here"] for result in results]
        assert max(states) < parameters / 3
        assert parameters <= sum(states) < parameters + 4 * 4

        losses, alone = the_one(results, "losses", "losses_alone")
        assert losses[-1] < losses[0]
        # The sums are the same in another order, so they differ in the last digits of 32 bits.
        assert losses == pytest.approx(alone, rel=1e-4)
        assert max(result["distance"] for result in results) < 1e-4
    assert second[0]["losses"] == pytest.approx(third[0]["losses"], rel=1e-5)


def test_accelerate_splits_every_batch_over_the_processes_and_averages_their_gradients(
    train: Callable[..., Results],
) -> None:
    # The pods of such a run are told by the chart alone who they are.
    settings = {"launcher": "accelerate", "layout": "worker-only", "accelerate.config": {"use_cpu": True}}
    results = train("accelerated", "accelerated", **settings)

    assert [(result["rank"], result["local_rank"]) for result in results] == [(0, 0), (1, 1), (2, 0), (3, 1)]
    assert the_one(results, "size", "type", "device", "wrapped") == [4, "MULTI_CPU", "cpu", "DistributedDataParallel"]
    assert the_one(results, "sum", "batches") == [10, 16]
    assert len({result["first_batch"] for result in results}) == 4
    losses, _ = the_one(results, "losses", "weights")
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.5 * losses[0]
