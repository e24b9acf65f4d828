"""Source trees of pinned Go modules, from which files of this project are generated."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.harness.cluster import progress, tools
from tests.harness.cluster.errors import ClusterError


def environment() -> dict[str, str]:
    """Return an environment in which a program that calls `go` finds the pinned toolchain."""
    variables = tools.go_environment()
    return variables | {"PATH": os.pathsep.join([str(Path(tools.go()).parent), variables.get("PATH", os.defpath)])}


def source(tool: str, module: str) -> Path:
    """Return the source tree of `module` in the version pinned by the go.mod of `tool`; download it if necessary.

    Raises `ClusterError` when the module proxy does not have the module or does not answer.
    """
    folder = _listed(tool, module)
    if folder is None:
        hint = "check that the Go module proxy can be reached, then run the same command again"
        with progress.step(f"downloading the source of {module}"):
            progress.run(
                [tools.go(), "mod", "download", module],
                log=f"download-{tool}",
                environment=environment(),
                cwd=tools.FOLDER / tool,
                hint=hint,
            )
        folder = _listed(tool, module)
    if folder is None:
        raise ClusterError(
            f"tests/harness/cluster/tools/{tool}/go.mod does not pin {module}", hint=f"run `go get {module}` there"
        )
    return folder


def _listed(tool: str, module: str) -> Path | None:
    """Return the folder of a module in the module cache; None if it is not downloaded."""
    command = [tools.go(), "list", "-m", "-f", "{{.Dir}}", module]
    listed = subprocess.run(
        command, cwd=tools.FOLDER / tool, env=environment(), capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        raise ClusterError(
            f"tests/harness/cluster/tools/{tool}/go.mod does not resolve {module}:\n    {listed.stderr.strip()}",
            hint="check that the Go module proxy can be reached and that go.mod and go.sum are as committed",
        )
    folder = listed.stdout.strip()
    return Path(folder) if folder else None
