"""Each step of `steps.yaml`, typed in a shell in a copy of this repository, with the programs that `make` installs.

The steps go through one folder and one cluster in order, so a step may fail because an earlier one did.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.harness.cluster import tools
from tests.harness.cluster.cluster import Cluster
from tests.harness.cluster.engine import Engine
from tests.harness.jobs import namespace as namespaces
from tests.harness.jobs.run import Run

ROOT = Path(__file__).parents[3]
CLONED = ("charts", "schemas", "trainer", "validator", "pyproject.toml")
# Between two attempts of a step whose output still changes.
RETYPE_SECONDS = 0.5
NAMESPACES = ("demo", "demo-quota")
PLATFORM = "helm template platform charts/training-platform --namespace demo -f build/site.yaml"


@dataclass(frozen=True)
class Step:
    """A step of the list; its file describes the fields."""

    step: str
    type: str
    exit: int = 0
    write: dict[str, str] = field(default_factory=dict)
    shows: list[str] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    within: int = 0


STEPS = [Step(**step) for step in yaml.safe_load(Path(__file__).with_name("steps.yaml").read_text())]


@dataclass(frozen=True)
class Shell:
    """A terminal in a fresh clone, whose cluster is reachable by kubectl and Helm."""

    folder: Path
    kubeconfig: Path

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user types it, with both streams in one output."""
        path = f"{self.folder / 'build/bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        variables = {"PATH": path, "KUBECONFIG": str(self.kubeconfig), "PYTHONPATH": str(ROOT / "validator")}
        return subprocess.run(
            ["/bin/bash", "-c", command],
            cwd=self.folder,
            env=os.environ | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=240,
        )

    def write(self, name: str, text: str) -> None:
        """Write a file of the clone."""
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture(scope="module")
def shell(
    cluster: Cluster, engine: Engine, training_operator: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shell]:
    """The clone, and a namespace with the run values of a site, as `make demo` leaves them."""
    shell = Shell(tmp_path_factory.mktemp("clone"), cluster.kubeconfig)
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
    for name, text in step.write.items():
        shell.write(name, text)
    finished = shell.type(step.type)
    until = time.monotonic() + step.within
    while differences(step, finished) and time.monotonic() < until:
        time.sleep(RETYPE_SECONDS)
        finished = shell.type(step.type)
    wrong = differences(step, finished)
    if wrong:
        pytest.fail("\n".join([f"$ {step.type}", finished.stdout, *wrong]), pytrace=False)


def differences(step: Step, finished: subprocess.CompletedProcess[str]) -> list[str]:
    """Returns what is not as the step says."""
    found = [f"exit status {finished.returncode} instead of {step.exit}"] * (finished.returncode != step.exit)
    for pattern in step.shows:
        if not re.search(pattern, finished.stdout, re.MULTILINE):
            found.append(f"not shown: {pattern}")
    for pattern in step.lacks:
        if re.search(pattern, finished.stdout, re.MULTILINE):
            found.append(f"shown: {pattern}")
    return found
