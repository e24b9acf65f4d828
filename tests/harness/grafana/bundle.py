"""The drawing program of `page/`, bundled once for this machine."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness import npm
from tests.harness.cluster import cache, progress

PROGRAM = Path(__file__).with_name("page")
SCRIPT = "dashboard.js"
SHEET = "dashboard.css"
# An editor that no panel uses, and older forms of the fonts.
_LEFT_OUT = ("--external:monaco-editor", "--external:react-monaco-editor", "--loader:.woff=empty")


def folder() -> Path:
    """Return the folder with the script, its style sheet and Grafana's icons in `public`."""
    return cache.cached("grafana", f"dashboard-{cache.digest(PROGRAM)}", _build, keep_others=False)


def _build(folder: Path) -> None:
    # The packages take 0.6 GB and are needed only here.
    with progress.step("bundling Grafana's components"), cache.scratch(folder.name) as work:
        shutil.copytree(PROGRAM, work, dirs_exist_ok=True)
        packages = npm.install(work)
        npm.run(work, packages / "typescript/bin/tsc")
        options = ("--bundle", "--minify", '--define:process.env.NODE_ENV="production"', "--loader:.woff2=dataurl")
        npm.run(work, packages / "esbuild/bin/esbuild", "dashboard.tsx", *options, *_LEFT_OUT, f"--outdir={folder}")
        shutil.copytree(packages / "@grafana/ui/dist/public", folder / "public")
