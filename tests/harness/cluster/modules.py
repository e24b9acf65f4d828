"""Source trees of pinned Go modules, which hold truths that this project derives files from."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from . import progress, tools
from .errors import ClusterError


def environment() -> dict[str, str]:
    """Environment in which a program that calls `go` by its name finds the pinned one."""
    variables = tools.go_environment()
    return variables | {"PATH": os.pathsep.join([str(Path(tools.go()).parent), variables.get("PATH", os.defpath)])}


def source(tool: str, module: str) -> Path:
    """Return the source tree of `module` in the version that the go.mod of `tool` pins, downloading it at need.

    Raises `ClusterError` when the module proxy does not have it or does not answer.
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
            f"tests/cluster/tools/{tool}/go.mod does not pin {module}", hint=f"run `go get {module}` there"
        )
    return folder


def _listed(tool: str, module: str) -> Path | None:
    """The folder of a module in the module cache; none when only its version is known."""
    command = [tools.go(), "list", "-m", "-f", "{{.Dir}}", module]
    listed = subprocess.run(
        command, cwd=tools.FOLDER / tool, env=environment(), capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        raise ClusterError(
            f"tests/cluster/tools/{tool}/go.mod gives no version of {module}:\n    {listed.stderr.strip()}",
            hint="check that the Go module proxy can be reached and that go.mod and go.sum are as committed",
        )
    folder = listed.stdout.strip()
    return Path(folder) if folder else None
