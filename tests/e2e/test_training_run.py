"""The main use: a release trains on two nodes, its checkpoint outlives it, the next release resumes from it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.harness.cluster import api
from tests.harness.jobs import checkpoint
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.follow import Outcome
from tests.harness.jobs.run import Run

EPOCH = re.compile(r"epoch=(\d+)/(\d+) loss=([\d.]+) test_loss=[\d.]+ test_accuracy=([\d.]+)")


def epochs(outcome: Outcome) -> list[tuple[int, float, float]]:
    """Return epoch, loss and test accuracy of each epoch line, in the order of the log."""
    found = (EPOCH.search(line) for line in outcome.log)
    return [(int(match[1]), float(match[3]), float(match[4])) for match in found if match]


def until_epoch(number: int) -> dict[str, object]:
    return {"train.args": ["--epochs", str(number), "--checkpoint-dir", "/checkpoints"]}


@pytest.fixture(scope="module")
def first(digits: Run) -> Outcome:
    """The first run with the chart's defaults, followed to its end; the release is still installed."""
    notes = digits.install()
    assert f"logs -f {digits.release}-master-0" in notes
    outcome = digits.follow()
    digits.require_success(outcome)
    return outcome


def test_master_and_worker_run_on_two_different_nodes(first: Outcome, digits: Run) -> None:
    assert set(first.nodes) == {"digits-master-0", "digits-worker-0"}
    assert set(first.nodes.values()) == set(digits.cluster.workers)


def test_the_log_names_backend_world_size_and_transport(first: Outcome) -> None:
    lines = [line for line in first.log if line.startswith("trainer: ")]
    assert len(lines) == 1
    assert "backend=gloo world_size=2 transport=tcp/eth0" in lines[0]


def test_loss_falls_in_each_of_three_epochs_and_accuracy_exceeds_90_percent(first: Outcome) -> None:
    numbers, losses, accuracies = zip(*epochs(first), strict=True)
    assert numbers == (1, 2, 3)
    assert losses[0] > losses[1] > losses[2]
    assert accuracies[-1] > 0.9


def test_a_third_pod_reads_the_checkpoint_from_the_shared_volume(first: Outcome, digits: Run) -> None:
    read = checkpoint.read(digits.cluster.kubeconfig, digits.namespace, digits.claim, digits.image())
    assert read.startswith("checkpoint: epoch=3 ")
    assert f"test_accuracy={epochs(first)[-1][2]:.4f}" in read


def test_uninstall_leaves_only_the_checkpoints_and_the_next_run_resumes_from_them(
    first: Outcome, digits: Run, connection: Any
) -> None:
    digits.uninstall()
    assert namespaces.leftovers(digits.cluster.kubeconfig, digits.namespace, digits.release) == []
    assert api.find(connection, "v1", "PersistentVolumeClaim", digits.claim, digits.namespace) is not None
    digits.install(settings=until_epoch(5))
    second = digits.follow()
    digits.require_success(second)
    assert any(re.match(r"resumed: epoch=3 step=\d+ path=/checkpoints/", line) for line in second.log)
    assert [number for number, _, _ in epochs(second)] == [4, 5]
    digits.uninstall()


def test_two_processes_on_each_of_two_nodes_have_world_size_4(digits: Run) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "four")
    run.install(settings={"processesPerNode": 2, "checkpoints.keep": False, **until_epoch(2)})
    outcome = run.follow()
    run.require_success(outcome)
    assert any("backend=gloo world_size=4 transport=tcp/eth0" in line for line in outcome.log)
    assert [number for number, _, _ in epochs(outcome)] == [1, 2]
    run.uninstall()


def test_a_worker_only_run_needs_no_master(digits: Run) -> None:
    run = Run(digits.cluster, digits.engine, digits.namespace, "peers", program="helm4")
    run.install(settings={"layout": "worker-only", **until_epoch(1)})
    outcome = run.follow()
    run.require_success(outcome)
    assert set(outcome.nodes) == {"peers-worker-0", "peers-worker-1"}
    assert any("world_size=2" in line for line in outcome.log)
    run.uninstall()
