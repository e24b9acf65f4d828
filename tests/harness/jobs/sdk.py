"""Kubeflow's Python SDK in an environment of its own: it needs an older Kubernetes client than the harness."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster.errors import ClusterError

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Sdk:
    """A Python with the SDK, for programs that use a cluster."""

    python: Path
    kubeconfig: Path

    def run(self, *arguments: str | Path, seconds: int = 300) -> str:
        """Run Python with these arguments and return what it prints; raise `ClusterError` if it fails."""
        finished = subprocess.run(
            [self.python, *arguments],
            env=os.environ | {"KUBECONFIG": str(self.kubeconfig), "PYTHONUNBUFFERED": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
        if finished.returncode:
            raise ClusterError(f"{finished.stdout}\n{finished.stderr}")
        return finished.stdout


def install(folder: Path, kubeconfig: Path) -> Sdk:
    """Install the pinned SDK into a folder."""
    (pin,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["sdk"]
    python = folder / "venv" / "bin" / "python"
    for command in (["venv", "--quiet", folder / "venv"], ["pip", "install", "--quiet", "--python", python, pin]):
        subprocess.run(["uv", *command], check=True)
    return Sdk(python, kubeconfig)
