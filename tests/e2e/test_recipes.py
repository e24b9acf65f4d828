"""The recipes on two nodes, from their values and their scripts; only image, resources and length are others."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.run import Run

RECIPES = Path(__file__).parents[2] / "recipes"
TITAN_ON_CPU = Path(__file__).parents[1] / "trainer" / "titan_on_cpu.py"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


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


def install(run: Run, recipe: Recipe, length: int) -> None:
    """Installs the recipe on nodes without GPUs, its script in a ConfigMap."""
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


def train(run: Run, recipe: Recipe, length: int) -> Outcome:
    """Runs the recipe to its end."""
    install(run, recipe, length)
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


def killer(kubeconfig: Path, namespace: str, due: dict[int, str]) -> Callable[[str, str], None]:
    """Returns what deletes pods by force, each when a pod has logged the step that `due` gives for it."""

    def kill(_: str, line: str) -> None:
        step = re.search(r"step: *(\d+) ", COLOURS.sub("", line))
        pod = due.pop(int(step[1]), None) if step else None
        if pod:
            at_once = ("--grace-period=0", "--force", "--wait=false")
            api.kubectl(kubeconfig, "--namespace", namespace, "delete", "pod", pod, *at_once)

    return kill


@pytest.mark.long
def test_torchtitan_continues_from_its_own_checkpoints_after_each_pod_was_killed(
    cluster: Cluster, engine: Engine, fresh_namespace: str
) -> None:
    # It saves each fourth step. A step takes 6 s on a busy machine of two processors, and a restart 25 s.
    steps = 12
    recipe = Recipe(
        "torchtitan",
        steps,
        steps,
        {
            "train.script": f"/app/{TITAN_ON_CPU.name}",
            "train.args": ["/app/train.py", "/checkpoints", steps],
            "resources.limits": {"cpu": "1", "memory": "3Gi"},
        },
    )
    files = [f"--from-file={file}" for file in (RECIPES / recipe.name / "train.py", TITAN_ON_CPU)]
    api.kubectl(cluster.kubeconfig, "--namespace", fresh_namespace, "create", "configmap", recipe.script, *files)
    run = Run(cluster, engine, fresh_namespace, recipe.name, image_name="titan")
    # The Master holds the rendezvous store.
    due = {5: "torchtitan-worker-0", 9: "torchtitan-master-0"}

    install(run, recipe, steps)
    outcome = run.follow(seconds=480, on_line=killer(cluster.kubeconfig, fresh_namespace, due))
    run.require_success(outcome)

    assert not due
    assert [line for line in outcome.log if "resuming from /checkpoints/step-" in line] == [
        "resuming from /checkpoints/step-4",
        "resuming from /checkpoints/step-8",
    ]
    assert f"finished: ranks=2 steps={steps}" in outcome.log
