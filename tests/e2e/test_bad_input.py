"""User errors: each ends in a clear message within a minute, and nothing is left behind."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.harness.cluster import api
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.cluster.errors import ClusterError
from tests.harness.jobs.helm import Helm, Settings
from tests.harness.jobs.namespace import leftovers
from tests.harness.jobs.run import Run
from tools.demo import train


def refused_run(run: Run, values: list[Path], settings: Settings) -> None:
    """Run the demo's part for one release, with the site's values as options."""
    given = {**run.settings(), **settings}
    train(run, values, [f"--set-json={name}={json.dumps(value)}" for name, value in given.items()])


@pytest.fixture
def mistaken(cluster: Cluster, engine: Engine, namespace: str) -> Run:
    """A run that is about to get wrong values."""
    return Run(cluster, engine, namespace, "mistaken")


def assert_nothing_left(run: Run) -> None:
    assert leftovers(run.cluster.kubeconfig, run.namespace, run.release) == []
    assert run.release not in Helm(run.cluster.kubeconfig).run("list", "--all", "--namespace", run.namespace)
    claims = api.kubectl(run.cluster.kubeconfig, "get", "pvc", "--namespace", run.namespace, "--output", "name")
    assert f"persistentvolumeclaim/{run.claim}" not in claims.split()


def test_a_values_file_with_a_wrong_type_is_refused_naming_the_key(mistaken: Run, values_file: Path) -> None:
    values_file.write_text("nodes: two\n")
    with pytest.raises(ClusterError) as refused:
        refused_run(mistaken, [values_file], {})
    assert "nodes" in refused.value.message
    assert "integer" in refused.value.message
    assert_nothing_left(mistaken)


def test_an_unknown_key_is_refused_by_name(mistaken: Run, values_file: Path) -> None:
    values_file.write_text("node: 2\n")
    with pytest.raises(ClusterError, match="node"):
        refused_run(mistaken, [values_file], {})
    assert_nothing_left(mistaken)


def test_a_missing_image_fails_the_run_with_the_reason_within_a_minute(mistaken: Run) -> None:
    started = time.monotonic()
    with pytest.raises(ClusterError) as ended:
        refused_run(mistaken, [], {"image.repository": "localhost/trainyard/absent", "image.tag": "none"})
    assert time.monotonic() - started < 60
    assert "localhost/trainyard/absent:none" in ended.value.message
    assert "cannot start: ImagePullBackOff" in ended.value.message
    assert_nothing_left(mistaken)


def test_more_nodes_than_the_cluster_has_fail_the_run_with_the_scheduler_s_message(mistaken: Run) -> None:
    started = time.monotonic()
    with pytest.raises(ClusterError, match=r"was not scheduled within 30 s: 0/3 nodes are available"):
        refused_run(mistaken, [], {"nodes": 3})
    assert time.monotonic() - started < 60
    assert_nothing_left(mistaken)


def test_a_failing_command_fails_the_run_with_the_error_it_printed(mistaken: Run) -> None:
    with pytest.raises(ClusterError) as ended:
        refused_run(mistaken, [], {"train.args": ["--epochs", "none"], "restartPolicy": "Never"})
    assert "--epochs" in ended.value.message
    assert_nothing_left(mistaken)
