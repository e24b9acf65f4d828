"""Helm as a user calls it, on one cluster."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.tools import binary

CHARTS = Path(__file__).parents[2] / "charts"
Settings = Mapping[str, object]


@dataclass(frozen=True)
class Helm:
    """Helm on the cluster that `kubeconfig` names; `program` is `helm` (version 3) or `helm4`."""

    kubeconfig: Path
    program: str = "helm"

    def run(self, *arguments: str) -> str:
        """Run one Helm command and return its output; raise `ClusterError` with Helm's own words when it fails."""
        finished = subprocess.run(
            [binary(self.program), "--kubeconfig", str(self.kubeconfig), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode != 0:
            raise ClusterError(f"helm {arguments[0]} failed:\n{_without_symlink_notes(finished.stderr)}")
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
        """Install one of our charts (or upgrade its release) and return what Helm prints: the chart's notes."""
        command = ["upgrade", "--install"] if upgrade else ["install"]
        for file in values:
            command += ["--values", str(file)]
        for name, value in (settings or {}).items():
            command += ["--set-json", f"{name}={json.dumps(value)}"]
        return self.run(*command, release, str(CHARTS / chart), "--namespace", namespace, *options)

    def uninstall(self, release: str, *, namespace: str) -> str:
        """Remove a release, wait until what it owned is gone and return what Helm says; none of this name is fine."""
        return self.run(
            "uninstall", release, "--namespace", namespace, "--ignore-not-found", "--wait", "--cascade", "foreground"
        )


def _without_symlink_notes(text: str) -> str:
    """Helm's message alone: it also notes that the library chart is a link, which tells a user nothing."""
    return "\n".join(line for line in text.strip().splitlines() if "found symbolic link in path" not in line)
