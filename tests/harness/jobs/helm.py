"""The helm command on one cluster, as a user runs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.harness.cluster.errors import ClusterError
from tests.harness.cluster.tools import binary

CHARTS = Path(__file__).parents[3] / "charts"
Settings = Mapping[str, object]


@dataclass(frozen=True)
class Helm:
    """Helm for the cluster of `kubeconfig`; `program` is `helm` (version 3) or `helm4`."""

    kubeconfig: Path
    program: str = "helm"

    def run(self, *arguments: str) -> str:
        """Run one Helm command and return its output; raise `ClusterError` with Helm's message when it fails."""
        finished = subprocess.run(
            [binary(self.program), "--kubeconfig", str(self.kubeconfig), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            raise ClusterError(f"helm {arguments[0]} failed:\n{finished.stderr.strip()}")
        return finished.stdout

    def install(
        self,
        release: str,
        chart: str,
        *,
        namespace: str,
        settings: Settings | None = None,
        values: Sequence[Path] = (),
        options: Sequence[str] = (),
        upgrade: bool = False,
    ) -> str:
        """Install one of our charts, or upgrade its release, and return Helm's output: the chart's notes."""
        command = ["upgrade", "--install"] if upgrade else ["install"]
        for file in values:
            command += ["--values", str(file)]
        for name, value in (settings or {}).items():
            command += ["--set-json", f"{name}={json.dumps(value)}"]
        return self.run(*command, release, str(CHARTS / chart), "--namespace", namespace, *options)

    def uninstall(self, release: str, *, namespace: str, cascade: str = "foreground") -> str:
        """Remove a release if there is one, wait until its objects are gone and return Helm's output."""
        return self.run(
            "uninstall", release, "--namespace", namespace, "--ignore-not-found", "--wait", "--cascade", cascade
        )
