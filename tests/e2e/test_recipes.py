"""The recipes on two nodes, from their values and their scripts; only image, resources and length are others."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.run import Run

RECIPES = Path(__file__).parents[2] / "recipes"


@dataclass(frozen=True)
class Recipe:
    """A recipe: how far it trains here at first, and the number of steps that this takes."""

    name: str
    length: int
    steps: int
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def script(self) -> str:
        """The ConfigMap with its script, which outlives the release."""
        return f"script-{self.name}"


RECIPE_RUNS = [
    Recipe("torchrun-script", 1, 16),
    Recipe("huggingface-trainer", 20, 20, {"accelerate.config": {"use_cpu": True}}),
    Recipe("lightning", 1, 32),
    Recipe("deepspeed", 8, 8, {"deepspeed.config.bf16.enabled": False}),
]


def train(run: Run, recipe: Recipe, length: int) -> Outcome:
    """Runs the recipe to its end on nodes without GPUs, its script in a ConfigMap."""
    run.install(
        values=[RECIPES / recipe.name / "values.yaml"],
        settings={
            "processesPerNode": 1,
            "train.args": ["/checkpoints", length],
            "volumes.script": {"configMap": {"name": recipe.script}, "mountPath": "/app"},
            "resources.limits": {"cpu": "800m", "memory": "2Gi"},
            "sharedMemory.size": "64Mi",
            **recipe.settings,
        },
    )
    outcome = run.follow()
    run.require_success(outcome)
    run.uninstall()
    return outcome


@pytest.mark.parametrize("recipe", RECIPE_RUNS, ids=lambda recipe: recipe.name)
def test_a_recipe_trains_on_two_nodes_and_continues_where_it_ended(
    recipe: Recipe, cluster: Cluster, engine: Engine, namespace: str
) -> None:
    file = f"--from-file={RECIPES / recipe.name / 'train.py'}"
    api.kubectl(cluster.kubeconfig, "--namespace", namespace, "create", "configmap", recipe.script, file)
    run = Run(cluster, engine, namespace, recipe.name)

    first = train(run, recipe, recipe.length)
    second = train(run, recipe, 2 * recipe.length)

    assert f"finished: ranks=2 steps={recipe.steps}" in first.log
    assert f"finished: ranks=2 steps={2 * recipe.steps}" in second.log
    assert [line for line in second.log if line.startswith(("resumed: ", "resuming from "))]
