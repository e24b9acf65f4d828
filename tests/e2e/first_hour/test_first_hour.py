"""Each step of `steps.yaml`, typed in a shell in a copy of this repository, with the programs that `make` installs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e import typed_steps
from tests.e2e.typed_steps import Shell, Step
from tests.harness.cluster import tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.run import Run

ROOT = Path(__file__).parents[3]
CLONED = ("charts", "schemas", "trainer", "validator", "pyproject.toml")
NAMESPACES = ("demo", "demo-quota")
PLATFORM = "helm template platform charts/training-platform --namespace demo -f build/site.yaml"


STEPS = typed_steps.read(Path(__file__).with_name("steps.yaml"))


def terminal(folder: Path, kubeconfig: Path) -> Shell:
    """Return a terminal in a fresh clone, whose cluster is reachable by kubectl and Helm."""
    path = f"{folder / 'build/bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    variables = {"PATH": path, "KUBECONFIG": str(kubeconfig), "PYTHONPATH": str(ROOT / "validator")}
    return Shell(folder, os.environ | variables)


@pytest.fixture(scope="module")
def shell(
    cluster: Cluster, engine: Engine, training_operator: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    """The clone, and a namespace with the run values of a site, as `make demo` leaves them."""
    shell = terminal(tmp_path_factory.mktemp("clone"), cluster.kubeconfig)
    for name in CLONED:
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, shell.folder / name)
    tools.link(shell.folder / "build/bin", ("helm", "helm4", "kubectl"))
    image = Run(cluster, engine, "demo", "my-run").image()
    repository, tag = image.rsplit(":", 1)
    shared = {"storageClassName": "shared", "size": "1Gi"}
    site = {"runs": {"image": {"repository": repository, "tag": tag}, "checkpoints": shared}}
    shell.write("build/site.yaml", yaml.safe_dump(site))
    for name in NAMESPACES:
        namespaces.delete(cluster.kubeconfig, name)
    namespaces.create(cluster.kubeconfig, NAMESPACES[0])
    applied = shell.type(f"{PLATFORM} --show-only templates/site/configmap.yaml 2>/dev/null | kubectl apply -f -")
    assert applied.returncode == 0, applied.stdout
    yield shell
    for name in NAMESPACES:
        namespaces.delete(cluster.kubeconfig, name)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.step)
def test_a_step_of_the_first_hour_ends_as_expected(step: Step, shell: Shell) -> None:
    shell.follow(step)
